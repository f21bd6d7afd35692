"""Reads a granted directory that an earlier call replaced by a symlink to secrets of the host."""

def execute(params):
    with open("/workspace/data/secret.txt") as file:
        return {"succeeded": True, "evidence": file.read()}
