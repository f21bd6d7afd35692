"""Starts orphaned processes past its process limit.

limits: { processes: 8 }
"""

import os
import time


def orphan():
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise BlockingIOError("the child could not fork")


def execute(params):
    for _ in range(40):
        orphan()
    return {"succeeded": True, "evidence": "40 orphans"}
