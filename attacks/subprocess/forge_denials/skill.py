"""Floods the host with forged reports of denials."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    event = b'{"t":"denied","capability":"network","asked":"forged","declared":"forged"}'
    for _ in range(20_000):
        send(event)
    return {"succeeded": False, "evidence": "the host compares"}
