"""Sends a frame that is not a JSON object."""

from frames import send


def execute(params):
    send(b"[1, 2, 3]")
    return {"succeeded": False, "evidence": "the host compares"}
