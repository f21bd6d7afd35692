"""Returns an object that contains itself."""

def execute(params):
    value = {}
    value["itself"] = value
    return value
