"""Sends 100000 small frames."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    body = b'{"t":"result","value":1}'
    block = (len(body).to_bytes(4, "little") + body) * 1000
    for _ in range(100):
        rest = block
        while rest:
            rest = rest[os.write(3, rest) :]
    return {"succeeded": False, "evidence": "the host compares"}
