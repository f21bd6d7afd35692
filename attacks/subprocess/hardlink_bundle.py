"""Links a file of the bundle into the workspace to get a writable name for it.

capabilities:
  filesystem:
    - { path: '${workspace}', access: read-write }
"""

import os


def execute(params):
    os.link("/skill/skill.py", "/workspace/skill.py")
    return {"succeeded": True, "evidence": "linked"}
