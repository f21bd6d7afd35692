"""Forges an error of 200 kilobytes with fields that no error has."""

import json
import os


def send(body):
    text = json.dumps(body).encode()
    data = len(text).to_bytes(4, "little") + text
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send({"t": "error", "type": "Forged", "message": "x" * 100_000, "trace": "y" * 100_000, "forged": [1] * 1000})
    return {"succeeded": False, "evidence": "the host compares"}
