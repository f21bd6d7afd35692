"""Changes its own bundle."""

def execute(params):
    with open("/skill/planted", "w") as file:
        file.write("planted")
    return {"succeeded": True, "evidence": "wrote /skill/planted"}
