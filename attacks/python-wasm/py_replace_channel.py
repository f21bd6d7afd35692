"""Replaces the channel with a file."""

import os


def execute(params):
    os.dup2(os.open("/tmp/channel", os.O_CREAT | os.O_RDWR), 3)
    return {"succeeded": False, "evidence": "the host compares"}
