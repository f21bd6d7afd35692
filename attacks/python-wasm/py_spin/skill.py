"""Runs for ever."""

def execute(params):
    while True:
        pass
