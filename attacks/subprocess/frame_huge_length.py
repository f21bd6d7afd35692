"""Announces a frame of 4 GiB on the protocol channel."""

import os


def execute(params):
    os.write(3, b"\xff\xff\xff\xff")
    return {"succeeded": False, "evidence": "the host compares"}
