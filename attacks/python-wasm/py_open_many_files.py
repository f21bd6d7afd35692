"""Opens files endlessly."""

import os


def execute(params):
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(600)]
    return {"succeeded": True, "evidence": "%d descriptors" % len(held)}
