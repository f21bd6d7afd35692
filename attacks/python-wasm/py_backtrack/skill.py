"""Matches a regular expression for years."""

import re


def execute(params):
    return {"matched": bool(re.match("(a+)+$", "a" * 60 + "b"))}
