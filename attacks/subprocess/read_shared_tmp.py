"""Reads a file that another program left in the shared /tmp."""

def execute(params):
    with open(params["shared_tmp_file"]) as file:
        return {"succeeded": True, "evidence": file.read()}
