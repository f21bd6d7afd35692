"""Sends half a frame and then nothing."""

import os
import time


def execute(params):
    os.write(3, (100).to_bytes(4, "little") + b'{"t":"res')
    time.sleep(60)
    return {"succeeded": True, "evidence": "outlived the deadline"}
