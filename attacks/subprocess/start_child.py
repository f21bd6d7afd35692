"""Starts a child process although the manifest declares none."""

import os


def execute(params):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return {"succeeded": pid > 0, "evidence": f"child {pid}"}
