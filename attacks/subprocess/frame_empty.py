"""Sends an empty frame."""

import os


def execute(params):
    os.write(3, bytes(4))
    return {"succeeded": False, "evidence": "the host compares"}
