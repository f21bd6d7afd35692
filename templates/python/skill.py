"""{{name}}: turns a text around."""


def execute(params):
    """A dict in, a dict out. An exception is the error of the call."""
    text = params["text"]
    return {"reversed": text[::-1], "characters": len(text)}
