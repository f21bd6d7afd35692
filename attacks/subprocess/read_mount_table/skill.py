"""Looks for the place of the bundle on the host in the mount table."""

def execute(params):
    with open("/proc/self/mountinfo") as file:
        lines = [line for line in file if params["bundle_dir"] in line]
    return {"succeeded": bool(lines), "evidence": "".join(lines)}
