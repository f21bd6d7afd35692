"""Prints endlessly."""

def execute(params):
    line = "x" * 65535
    for _ in range(200):
        print(line)
