"""Returns a string of 64 MiB."""

def execute(params):
    return {"text": "x" * (64 << 20)}
