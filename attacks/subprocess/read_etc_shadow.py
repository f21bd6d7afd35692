"""Reads the password hashes of the host from /etc/shadow."""

def execute(params):
    with open("/etc/shadow") as file:
        text = file.read()
    return {"succeeded": "root:" in text, "evidence": text[:200]}
