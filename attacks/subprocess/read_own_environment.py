"""Looks for secrets of the runtime in its own environment."""

import os


def execute(params):
    found = [value for value in os.environ.values() if params["marker"] in value]
    return {"succeeded": bool(found), "evidence": str(found)}
