"""Recurses through native code until the stack of the process ends."""

import sys


def execute(params):
    sys.setrecursionlimit(1 << 30)
    return sorted([params, params], key=execute)
