"""Returns a text that its own outputs match in exponential time."""


def execute(params):
    return {"text": "a" * 60 + "!"}
