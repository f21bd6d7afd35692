"""Forges a report of a denial of what does not exist."""

import json
import os


def send(body):
    text = json.dumps(body).encode()
    data = len(text).to_bytes(4, "little") + text
    while data:
        data = data[os.write(3, data) :]


def execute(params):
    send({"t": "denied", "capability": "everything", "asked": "forged", "declared": "forged"})
    return {"succeeded": False, "evidence": "the host compares"}
