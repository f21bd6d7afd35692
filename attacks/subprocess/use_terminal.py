"""Writes to the terminal of the user who started the runtime."""

import os


def execute(params):
    fd = os.open("/dev/tty", os.O_RDWR)
    os.write(fd, b"")
    return {"succeeded": True, "evidence": os.ttyname(fd)}
