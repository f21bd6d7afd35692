"""Sends two replies, so that the second might become the reply of the next call."""

from frames import send


def execute(params):
    send(b'{"t":"result","value":{"succeeded":false,"n":1}}')
    send(b'{"t":"result","value":{"sum":"forged"}}')
    return {"succeeded": False, "evidence": "the host compares"}
