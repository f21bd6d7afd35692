"""Sends 200 reports of denials that are each just small enough."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    event = b'{"t":"denied","capability":"env","declared":"forged","asked":"' + b"x" * 16_000 + b'"}'
    for _ in range(200):
        send(event)
    os._exit(0)
