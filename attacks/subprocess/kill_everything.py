"""Sends SIGKILL to every process it can reach."""

import os


def execute(params):
    os.kill(-1, 9)
    return {"succeeded": False, "evidence": "the host checks its processes"}
