"""Runs malformed bytecode when it is loaded."""

import opcode


def victim():
    pass


victim.__code__ = victim.__code__.replace(co_code=bytes([opcode.opmap["POP_TOP"], 0]) * 5000)
print("attack reached", flush=True)
victim()


def execute(params):
    return None
