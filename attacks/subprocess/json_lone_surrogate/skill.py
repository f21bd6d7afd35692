"""Replies with half a surrogate pair, which no UTF-8 can carry."""

import os


def send(body):
    data = len(body).to_bytes(4, "little") + body
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send(b'{"t":"result","value":' + b'{"text":"\\ud800"}' + b"}")
    os._exit(0)
