"""Writes to the root directory."""

def execute(params):
    with open("/planted", "w") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote /planted"}
