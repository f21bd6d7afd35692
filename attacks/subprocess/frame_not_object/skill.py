"""Sends a frame that is no object."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b"[1, 2, 3]")
    return {"succeeded": False, "evidence": "the host compares"}
