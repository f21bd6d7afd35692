"""Sends a frame of an unknown type."""

from frames import send


def execute(params):
    send(b'{"t":"grant","value":{"network":["*"]}}')
    return {"succeeded": False, "evidence": "the host compares"}
