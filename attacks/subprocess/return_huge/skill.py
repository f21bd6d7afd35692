"""Returns a text of 64 MiB."""

def execute(params):
    return {"text": "x" * (64 << 20)}
