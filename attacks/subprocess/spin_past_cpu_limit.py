"""Catches the warning signal of the CPU limit and continues.

limits: { cpu: 1s }
"""

import signal
import time


def execute(params):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
    return {"succeeded": True, "evidence": "outlived its processor limit"}
