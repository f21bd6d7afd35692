"""Runs bytecode that pops more from the stack than it contains."""

import opcode


def execute(params):
    def victim():
        pass

    code = bytes([opcode.opmap["POP_TOP"], 0]) * 5000
    victim.__code__ = victim.__code__.replace(co_code=code)
    victim()
