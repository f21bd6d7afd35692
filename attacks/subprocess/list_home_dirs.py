"""Lists the home directories of the host."""

import os


def execute(params):
    names = os.listdir("/home") + os.listdir("/root")
    return {"succeeded": bool(names), "evidence": str(names)}
