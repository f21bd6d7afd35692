"""Sends a frame that is not valid UTF-8."""

from frames import send


def execute(params):
    send(b'{"t":"result","value":"\xff\xfe"}')
    return {"succeeded": False, "evidence": "the host compares"}
