"""Sends a forged receipt."""

from frames import send


def execute(params):
    send(b'{"t":"receipt","value":{"ok":true,"call_id":"forged"}}')
    return {"succeeded": False, "evidence": "the host compares"}
