"""Looks for host paths in the command line of pid 1."""

def execute(params):
    with open("/proc/1/cmdline", "rb") as file:
        text = file.read().decode("utf8", "replace")
    return {"succeeded": any(path in text for path in params["host_paths"]), "evidence": text}
