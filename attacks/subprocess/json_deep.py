"""Replies with JSON nested 100000 deep."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    os._exit(0)
