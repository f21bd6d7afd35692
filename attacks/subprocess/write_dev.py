"""Writes a file into /dev."""

def execute(params):
    with open("/dev/planted", "w") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote /dev/planted"}
