"""Reads a file of the host."""

def execute(params):
    with open(params["secret_file"]) as file:
        text = file.read()
    print(text)
    return {"succeeded": True, "evidence": text}
