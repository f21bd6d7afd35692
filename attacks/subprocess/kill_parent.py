"""Sends SIGKILL to its parent or, from a nested pid namespace, to group 0."""

import os


def execute(params):
    os.kill(params["victim_pid"] if os.getppid() == 1 else os.getppid(), 9)
    return {"succeeded": False, "evidence": "the host checks its processes"}
