"""Changes the standard library for later calls."""

import os


def execute(params):
    with open("/lib/python314.zip", "r+b") as file:
        file.write(b"planted")
    return {"succeeded": True, "evidence": "changed"}
