"""Sends a frame that is no UTF-8."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":"\xff\xfe"}')
    return {"succeeded": False, "evidence": "the host compares"}
