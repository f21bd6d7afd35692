"""Forges a report of a denial of 200 kilobytes."""

import json
import os


def send(body):
    text = json.dumps(body).encode()
    data = len(text).to_bytes(4, "little") + text
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send({"t": "denied", "capability": "env", "asked": "x" * 200_000, "declared": "forged"})
    return {"succeeded": False, "evidence": "the host compares"}
