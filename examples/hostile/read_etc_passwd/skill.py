"""Reads the user list of the host from /etc/passwd."""

def execute(params):
    with open("/etc/passwd") as file:
        text = file.read()
    return {"succeeded": "root:" in text, "evidence": text[:200]}
