"""Announces a frame whose length is negative if read as signed."""

import os


def execute(params):
    os.write(3, b"\x00\x00\x00\x80" + b"x" * 64)
    return {"succeeded": False, "evidence": "the host compares"}
