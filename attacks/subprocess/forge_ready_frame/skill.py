"""Claims to be ready and started again, to confuse the state of the host."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    for kind in (b"ready", b"hello", b"init", b"call", b"error"):
        send(b'{"t":"' + kind + b'"}')
    return {"succeeded": False, "evidence": "the host compares"}
