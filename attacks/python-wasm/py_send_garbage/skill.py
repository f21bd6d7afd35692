"""Sends what is no frame."""

import os


def execute(params):
    try:
        os.write(3, b"\x40\0\0\0" + bytes(range(256)))
    except OSError:
        pass
    return {"succeeded": False, "evidence": "the host compares"}
