"""Replies with an object that has a key twice."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b'{"succeeded":false,"succeeded":true}' + b"}")
    os._exit(0)
