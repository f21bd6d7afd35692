"""Stops itself, so that only SIGKILL or SIGCONT reach it."""

import os
import signal
import time


def execute(params):
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)
    return {"succeeded": True, "evidence": "outlived the deadline"}
