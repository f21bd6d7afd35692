"""Returns a set, which is not JSON."""

def execute(params):
    return {1, 2, 3}
