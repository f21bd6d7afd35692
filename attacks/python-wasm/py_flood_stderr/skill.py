"""Writes to the descriptor of the error stream without end."""

import os


def execute(params):
    for _ in range(200):
        os.write(2, b"x" * 65536)
