"""Sleeps past its deadline."""

import time


def execute(params):
    time.sleep(3600)
