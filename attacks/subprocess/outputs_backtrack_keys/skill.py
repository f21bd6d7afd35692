"""Returns a key that its own outputs match in exponential time."""


def execute(params):
    return {"texts": {"a" * 60 + "!": 1}}
