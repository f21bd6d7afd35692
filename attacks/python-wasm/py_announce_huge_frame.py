"""Announces a frame of four gigabytes."""

import os


def execute(params):
    try:
        os.write(3, b"\xff\xff\xff\xff" + b"x" * 4096)
    except OSError:
        pass
    return {"succeeded": False, "evidence": "the host compares"}
