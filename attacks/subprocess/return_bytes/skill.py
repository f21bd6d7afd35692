"""Returns bytes, which are no JSON."""

def execute(params):
    return b"forged"
