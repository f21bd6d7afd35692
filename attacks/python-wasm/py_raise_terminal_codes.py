"""Raises an error with terminal control codes."""

class Red(Exception):
    pass


Red.__name__ = "\x1b[31mRed\x9b"


def execute(params):
    raise Red("\x1b[2J\x1b]0;title\x07\r\x9b31m")
