"""Compiles an endlessly nested regular expression."""

import re


def execute(params):
    re.compile("(" * 50_000 + ")" * 50_000)
