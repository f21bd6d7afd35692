"""Sends a frame of a type that does not exist."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"grant","value":{"network":["*"]}}')
    return {"succeeded": False, "evidence": "the host compares"}
