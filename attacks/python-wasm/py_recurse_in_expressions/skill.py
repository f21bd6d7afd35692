"""Compiles a regular expression that is nested without end."""

import re


def execute(params):
    re.compile("(" * 50_000 + ")" * 50_000)
