"""Writes to /etc."""

def execute(params):
    with open("/etc/planted", "w") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote /etc/planted"}
