"""Makes a regular expression backtrack exponentially."""

import re


def execute(params):
    return {"matched": bool(re.match("(a+)+$", "a" * 60 + "b"))}
