"""Raises SystemExit."""

import sys


def execute(params):
    sys.exit({"forged": True})
