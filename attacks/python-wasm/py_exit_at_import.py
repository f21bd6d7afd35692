"""Exits the process when it is loaded."""

import os

print("attack reached", flush=True)
os._exit(0)


def execute(params):
    return None
