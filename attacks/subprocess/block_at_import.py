"""Blocks while it is being imported, before the host can send the call."""

import time

print("attack reached", flush=True)
time.sleep(60)


def execute(params):
    return {"succeeded": True, "evidence": "outlived the deadline"}
