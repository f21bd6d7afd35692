"""Starts a thread."""

import threading


def execute(params):
    ran = []
    thread = threading.Thread(target=ran.append, args=(1,))
    thread.start()
    thread.join()
    return {"succeeded": bool(ran), "evidence": "a thread ran"}
