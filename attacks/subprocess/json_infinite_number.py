"""Replies with a number that overflows to infinity."""

import os

from frames import send


def execute(params):
    send(b'{"t":"result","value":' + b'{"n":1e999}' + b"}")
    os._exit(0)
