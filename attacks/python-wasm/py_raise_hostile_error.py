"""Raises an error whose text ends the process."""

import os


class Hostile(BaseException):
    __class__ = property(lambda self: os._exit(0))

    def __str__(self):
        os._exit(0)

    __repr__ = __str__


def execute(params):
    raise Hostile()
