"""Links a file of the bundle into the workspace to get a writable name for it."""

import os


def execute(params):
    os.link("/skill/skill.py", "/workspace/skill.py")
    return {"succeeded": True, "evidence": "linked"}
