"""Closes the harness's channel."""

import os


def execute(params):
    os.close(3)
    return {"succeeded": False, "evidence": "the host compares"}
