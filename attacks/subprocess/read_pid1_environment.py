"""Reads the environment of the supervisor, which is pid 1 in a careless jail."""

def execute(params):
    with open("/proc/1/environ", "rb") as file:
        text = file.read().decode("utf8", "replace")
    return {"succeeded": params["marker"] in text, "evidence": text}
