"""Recurses endlessly, with Python's own limit disabled."""

import sys


def down(level):
    return down(level + 1)


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")


def execute(params):
    sys.setrecursionlimit(2**31 - 1)
    try:
        Deep().x
    except RecursionError:
        pass
    down(0)
