"""Returns far more than the output limit."""

def execute(params):
    return {"text": "x" * (24 << 20)}
