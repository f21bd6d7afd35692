"""Ignores every signal it can and never exits."""

import signal
import time


def execute(params):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    time.sleep(60)
    return {"succeeded": True, "evidence": "outlived the deadline"}
