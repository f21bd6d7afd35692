"""Leaves a process behind that waits for the next call.

limits: { processes: 8 }
"""

import ctypes
import os
import time

PR_SET_NAME, NAME = 15, b"left-for-the-next-call"


def names():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", "rb") as file:
                yield file.read().strip()
        except OSError:
            pass


def execute(params):
    found = NAME[:15] in list(names())
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_NAME, NAME, 0, 0, 0)
            time.sleep(20)
        os._exit(0)
    os.wait()
    time.sleep(0.3)
    return {"succeeded": found, "evidence": "a process of the call before"}
