"""Closes the channel of the harness."""

import os


def execute(params):
    os.close(3)
    return {"succeeded": False, "evidence": "the host compares"}
