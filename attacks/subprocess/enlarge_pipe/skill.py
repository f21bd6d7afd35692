"""Takes a large pipe, whose pages all processes of the user have together."""

import fcntl, os


def execute(params):
    handle = os.pipe()[1]
    fcntl.fcntl(handle, 1031, 1 << 20)
    return {"succeeded": True, "evidence": "a pipe of 1 MiB"}
