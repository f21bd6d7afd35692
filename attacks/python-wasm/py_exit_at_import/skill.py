"""Ends the process when it is loaded."""

import os

os._exit(0)


def execute(params):
    return None
