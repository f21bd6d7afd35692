"""Closes every descriptor, including the protocol channel, and keeps running."""

import os
import time


def execute(params):
    os.closerange(0, 64)
    time.sleep(60)
    return {"succeeded": True, "evidence": "outlived the deadline"}
