"""Prints control codes that would rewrite the terminal of the reader."""

def execute(params):
    print("\x1b[2J\x1b]0;forged\x07 forged")
    return {"succeeded": False, "evidence": ""}
