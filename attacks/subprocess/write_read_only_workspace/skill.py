"""Writes into a workspace that it may only read."""

def execute(params):
    with open("/workspace/data/report.txt", "a") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote"}
