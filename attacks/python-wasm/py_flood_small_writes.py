"""Prints single characters endlessly."""

import os


def execute(params):
    while True:
        os.write(1, b"x")
