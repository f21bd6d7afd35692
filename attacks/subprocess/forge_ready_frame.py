"""Claims again to be ready and started, to confuse the host's state."""

from frames import send


def execute(params):
    for kind in (b"ready", b"hello", b"init", b"call", b"error"):
        send(b'{"t":"' + kind + b'"}')
    return {"succeeded": False, "evidence": "the host compares"}
