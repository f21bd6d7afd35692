"""Starts 1200 threads."""

import threading


def execute(params):
    stop = threading.Event()
    threading.stack_size(64 << 10)
    for number in range(1200):
        threading.Thread(target=stop.wait, args=(4,), daemon=True).start()
    return {"succeeded": True, "evidence": f"{threading.active_count()} threads"}
