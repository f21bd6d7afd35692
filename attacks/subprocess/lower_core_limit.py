"""Sets the core dump limit to 0, which allows dumps to be piped to a program of the host."""

import resource


def execute(params):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return {"succeeded": True, "evidence": "a crash is handed to the host again"}
