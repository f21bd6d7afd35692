"""Raises an error whose text attacks the harness."""

import os


class Hostile(BaseException):
    def __str__(self):
        os._exit(0)

    __repr__ = __str__


def execute(params):
    raise Hostile()
