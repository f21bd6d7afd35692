"""Prints a forged reply on stdout."""

import os


def execute(params):
    body = b'{"t":"result","value":{"succeeded":true,"evidence":"forged"}}'
    os.write(1, len(body).to_bytes(4, "little") + body + b"\n" + body + b"\n")
    return {"succeeded": False, "evidence": "the host compares"}
