"""Makes C functions recurse endlessly."""

import json


def execute(params):
    nested = []
    for _ in range(200_000):
        nested = [nested]
    try:
        repr(nested)
    except RecursionError:
        pass
    json.dumps(nested)
