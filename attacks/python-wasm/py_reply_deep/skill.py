"""Answers with an error whose fields are nested a hundred thousand levels deep."""

import json
import os


def frame(body, payload=b""):
    text = json.dumps(body).encode()
    return len(text).to_bytes(4, "little") + text + payload


def send(data):
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    body = b'{"t": "error", "denied": ' + b"[" * 120_000 + b"]" * 120_000 + b"}"
    send(len(body).to_bytes(4, "little") + body)
    return {"succeeded": False, "evidence": "the host compares"}
