"""Computes one number in C for minutes."""

def execute(params):
    return {"bits": (7 ** (10**8)).bit_length()}
