"""Forks."""

import os


def execute(params):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return {"succeeded": True, "evidence": "a child ran"}
