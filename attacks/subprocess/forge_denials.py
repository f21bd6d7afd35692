"""Floods the host with forged denial reports."""

from frames import send


def execute(params):
    event = b'{"t":"denied","capability":"network","asked":"forged","declared":"forged"}'
    for _ in range(20_000):
        send(event)
    return {"succeeded": False, "evidence": "the host compares"}
