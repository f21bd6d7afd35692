"""Checks whether a system call filter is in place."""

def execute(params):
    with open("/proc/self/status") as file:
        found = "Seccomp:\t0" in file.read()
    return {"succeeded": found, "evidence": "no filter" if found else ""}
