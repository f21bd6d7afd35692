"""Sends large frames that are not results, just fewer than the maximum number."""

from frames import send


def execute(params):
    event = b'{"t":"denied","capability":"network","asked":"' + b"x" * (1 << 20) + b'","declared":"forged"}'
    for _ in range(64):
        send(event)
    return {"succeeded": True, "evidence": "the host took 64 MiB of frames that are no result"}
