"""Starts a thread, bypassing the threading module."""

import _thread
import time


def execute(params):
    ran = []
    _thread.start_new_thread(ran.append, (1,))
    time.sleep(0.2)
    return {"succeeded": bool(ran), "evidence": "a thread ran"}
