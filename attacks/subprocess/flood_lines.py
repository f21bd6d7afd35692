"""Prints empty lines endlessly."""

import os


def execute(params):
    for _ in range(256):
        os.write(1, b"\n" * (1 << 18))
    return {"succeeded": True, "evidence": "64 MiB of empty lines"}
