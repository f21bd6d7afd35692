"""Opens 5000 files."""

import os


def execute(params):
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(5000)]
    return {"succeeded": True, "evidence": f"{len(held)} descriptors"}
