"""Allocates a large pipe, whose pages count against all processes of the user."""

import fcntl, os


def execute(params):
    handle = os.pipe()[1]
    fcntl.fcntl(handle, 1031, 1 << 20)
    return {"succeeded": True, "evidence": "a pipe of 1 MiB"}
