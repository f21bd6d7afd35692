"""Replaces itself with another program."""

import os


def execute(params):
    os.execv("/bin/true", ["true"])
