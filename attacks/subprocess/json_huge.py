"""Replies with 64 MiB of JSON."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'"' + b'x' * (64 << 20) + b'"' + b"}")
    os._exit(0)
