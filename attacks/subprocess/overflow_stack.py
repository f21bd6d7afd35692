"""Recurses through native code until the process stack overflows."""

import sys


def execute(params):
    sys.setrecursionlimit(1 << 30)
    return sorted([params, params], key=execute)
