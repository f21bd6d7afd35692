"""Fills memory in processes that are nobody's children, each below the limit of one."""

import os
import time


def hold():
    """Fills memory, says so in a pipe, and stays."""
    held = b"x" * (32 << 20)
    os.write(WRITE, b"h")
    time.sleep(3)
    os._exit(len(held) & 1)


READ, WRITE = os.pipe()


def execute(params):
    for _ in range(10):
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                hold()
            os._exit(0)
        os.waitpid(child, 0)
    os.close(WRITE)
    holders = 0
    while os.read(READ, 1):
        holders += 1
    return {"succeeded": holders == 10, "evidence": f"{holders} hold 32 MiB each"}
