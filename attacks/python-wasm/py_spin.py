"""Runs forever."""

def execute(params):
    while True:
        pass
