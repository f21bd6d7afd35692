"""Aborts the interpreter."""

import os


def execute(params):
    os.abort()
