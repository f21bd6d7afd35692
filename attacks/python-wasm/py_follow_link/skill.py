"""Reads through a link out of the granted folder."""

def execute(params):
    with open("/workspace/link") as file:
        text = file.read()
    return {"succeeded": True, "evidence": text}
