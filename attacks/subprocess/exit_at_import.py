"""Exits while it is being imported."""

import os

print("attack reached", flush=True)
os._exit(0)


def execute(params):
    return {"succeeded": True, "evidence": ""}
