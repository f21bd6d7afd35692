"""Runs bytecode that loads a local variable far outside the frame."""

import opcode


def execute(params):
    def victim():
        pass

    wide = b"".join(bytes([opcode.opmap["EXTENDED_ARG"], 0x7F]) for _ in range(3))
    code = wide + bytes([opcode.opmap["LOAD_FAST"], 0xFF, opcode.opmap["RETURN_VALUE"], 0])
    victim.__code__ = victim.__code__.replace(co_code=code * 20)
    victim().attribute
