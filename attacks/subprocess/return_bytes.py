"""Returns bytes, which are not JSON."""

def execute(params):
    return b"forged"
