"""Returns a set, which is no JSON."""

def execute(params):
    return {1, 2, 3}
