"""Unpickles some bytes to hundreds of megabytes."""

import pickle


class Bomb:
    def __reduce__(self):
        return bytearray, (500 << 20,)


def execute(params):
    return {"succeeded": len(pickle.loads(pickle.dumps(Bomb()))) > 0, "evidence": "500 MiB"}
