"""Sends 250 reports of denials of one megabyte each."""

import os


def send(body):
    data = memoryview(len(body).to_bytes(4, "little") + body)
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    event = b'{"t":"denied","capability":"env","declared":"forged","asked":"' + b"x" * (1 << 20) + b'"}'
    for _ in range(250):
        send(event)
    os._exit(0)
