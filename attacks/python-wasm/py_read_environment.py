"""Searches the environment for secrets."""

import os
import posix


def execute(params):
    found = [name for name, value in os.environ.items() if params["marker"] in value]
    found += [name.decode() for name, value in posix.environ.items() if params["marker"].encode() in value]
    return {"succeeded": bool(found), "evidence": str(found)}
