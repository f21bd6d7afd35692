"""Exits with status 0 and never replies."""

import os


def execute(params):
    os._exit(0)
