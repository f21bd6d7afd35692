"""Prints what looks like a result."""

import json


def execute(params):
    print(json.dumps({"t": "result", "value": {"forged": True}}))
    return {"succeeded": False, "evidence": "the host compares"}
