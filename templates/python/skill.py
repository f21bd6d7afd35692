"""{{name}}: reverses a text."""


def execute(params):
    """Takes a dict and returns a dict. An exception becomes the error of the call."""
    text = params["text"]
    return {"reversed": text[::-1], "characters": len(text)}
