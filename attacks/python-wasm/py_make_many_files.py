"""Creates empty files until there is no room for their names.

limits: { scratch: 1MiB }
"""

def execute(params):
    for number in range(5000):
        open("/tmp/%d" % number, "wb", buffering=0).close()
    return {"succeeded": True, "evidence": "5000 files"}
