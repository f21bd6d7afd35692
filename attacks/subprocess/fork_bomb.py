"""Forks far past its process limit.

limits: { processes: 16 }
"""

import os
import time


def execute(params):
    children = 0
    while children < 64:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        children += 1
    return {"succeeded": True, "evidence": f"{children} children"}
