"""Replies with objects nested 50000 deep."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'{"a":' * 50_000 + b'1' + b'}' * 50_000 + b"}")
    os._exit(0)
