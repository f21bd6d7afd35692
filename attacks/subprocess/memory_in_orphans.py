"""Fills memory in orphaned processes, each below the limit for one.

limits: { memory: 64MiB, processes: 16 }
"""

import os
import time


def hold():
    """Fills memory, reports it through a pipe, and stays."""
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
