"""Sends large frames that are no results, fewer than the host counts to."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    event = b'{"t":"denied","capability":"network","asked":"' + b"x" * (1 << 20) + b'","declared":"forged"}'
    for _ in range(64):
        send(event)
    return {"succeeded": True, "evidence": "the host took 64 MiB of frames that are no result"}
