"""Reads a secret file of the host by its absolute path."""

def execute(params):
    with open(params["secret_file"]) as file:
        return {"succeeded": True, "evidence": file.read()}
