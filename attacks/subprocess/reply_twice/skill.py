"""Sends two replies, so that the second may be taken for the reply of the next call."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":{"succeeded":false,"n":1}}')
    send(b'{"t":"result","value":{"sum":"forged"}}')
    return {"succeeded": False, "evidence": "the host compares"}
