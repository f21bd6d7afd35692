"""Writes into the workspace although the manifest does not ask for it."""

def execute(params):
    with open("/workspace/data/report.txt", "a") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote"}
