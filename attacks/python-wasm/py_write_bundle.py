"""Changes its own code for the next call."""

def execute(params):
    with open("/skill/skill.py", "a") as file:
        file.write("# planted")
    return {"succeeded": True, "evidence": "changed"}
