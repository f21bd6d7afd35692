"""Writes one gigabyte to its error log."""

import os


def execute(params):
    for _ in range(1024):
        os.write(2, b"A" * (1 << 20))
    return {"succeeded": True, "evidence": "1 GiB printed"}
