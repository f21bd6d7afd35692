"""Sends SIGKILL to its process group, which crosses pid namespaces."""

import os


def execute(params):
    os.kill(0, 9)
    return {"succeeded": False, "evidence": "the host checks its processes"}
