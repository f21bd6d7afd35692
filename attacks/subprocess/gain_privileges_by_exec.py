"""Checks whether setuid programs would give it privileges."""

def execute(params):
    with open("/proc/self/status") as file:
        found = "NoNewPrivs:\t0" in file.read()
    return {"succeeded": found, "evidence": "setuid programs count" if found else ""}
