"""Writes random bytes on the protocol channel."""

import os


def execute(params):
    os.write(3, os.urandom(4096))
    return {"succeeded": False, "evidence": "the host compares"}
