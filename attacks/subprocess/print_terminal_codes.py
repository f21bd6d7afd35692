"""Prints control codes that would rewrite the reader's terminal."""

def execute(params):
    print("\x1b[2J\x1b]0;forged\x07 forged")
    return {"succeeded": False, "evidence": ""}
