"""Has the interpreter encode a list of 100,000 levels."""

import json


def execute(params):
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return {"succeeded": False, "evidence": len(json.dumps(nested))}
