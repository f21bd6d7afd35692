"""Asks the interpreter to exit with status 0."""

def execute(params):
    raise SystemExit(0)
