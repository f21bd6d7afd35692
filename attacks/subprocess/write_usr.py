"""Overwrites programs of the host."""

def execute(params):
    with open("/usr/local/planted", "w") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote /usr/local/planted"}
