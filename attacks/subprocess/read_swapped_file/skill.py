"""Reads a granted file that an earlier call replaced by a symlink to a secret of the host."""

def execute(params):
    with open("/workspace/data/report.txt") as file:
        text = file.read()
    return {"succeeded": params["marker"] in text, "evidence": text}
