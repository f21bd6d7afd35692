"""Reads a POSIX shared memory segment of the host."""

def execute(params):
    with open("/dev/shm/" + params["token"]) as file:
        return {"succeeded": True, "evidence": file.read()}
