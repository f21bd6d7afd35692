"""Sleeps far past the deadline."""

import time


def execute(params):
    time.sleep(60)
    return {"succeeded": True, "evidence": "outlived the deadline"}
