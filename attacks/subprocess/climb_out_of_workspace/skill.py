"""Walks out of the workspace with `..`."""

def execute(params):
    with open("/workspace/../secret.txt") as file:
        return {"succeeded": True, "evidence": file.read()}
