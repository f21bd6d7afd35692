"""Creates an object that covers the whole memory, and uses it."""

import hashlib
import opcode
import os
import re
import sys


def word(number):
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


def object_at(address):
    """Treats the memory there as an object: loads a constant whose index is not checked."""

    def load():
        pass

    pointer, constants = word(address) + bytes(12), (None, 1)
    index = (id(pointer) - id(constants)) // 4 & 0xFFFFFFFF
    wide = b"".join(bytes([opcode.opmap["EXTENDED_ARG"], index >> shift & 0xFF]) for shift in (24, 16, 8))
    code = wide + bytes([opcode.opmap["LOAD_CONST"], index & 0xFF, opcode.opmap["RETURN_VALUE"], 0])
    load.__code__ = load.__code__.replace(co_code=code, co_consts=constants)
    return load()


HEADER = 16
IMMORTAL = 0x3FFFFFFF
kept = []


def window(start, size):
    """A bytearray whose content is arbitrary memory."""
    fake = word(IMMORTAL) + word(id(bytearray)) + word(size) + word(size) + word(start) + word(start) + bytes(32)
    kept.append(fake)
    return object_at(id(fake) + HEADER)


def everything():
    return window(0, 0x7FFFFFFF)


def wipe_data(params):
    memory = everything()
    for at in range(1024, id(object), 4096):
        memory[at : at + 4096] = b"\xff" * 4096


def write_beyond(params):
    everything()[0x7FFF0000] = 1


def print_beyond(params):
    """Passes the host an address outside the memory to read from."""
    os.write(1, window(0xFFFFF000, 4096))


def fill_beyond(params):
    """Passes the host an address outside the memory to write to."""
    with open("/dev/urandom", "rb", buffering=0) as file:
        file.readinto(window(0xFFFFF000, 4096))


def hash_beyond(params):
    """Changes what a hash object has for the host to hash: where it is, or how long."""
    for _ in range(100):
        hashlib.sha256(bytes(65536)).digest()
    memory = everything()
    one = hashlib.sha256(bytes(1000))
    field = int.from_bytes(memory[id(one) + 16 : id(one) + 20], "little") + params["field"]
    memory[field : field + 4] = word(params["value"])
    one.digest()


def call_nowhere(params):
    """Sets the function pointer of a built-in function to an unused number."""
    memory = everything()
    definition = int.from_bytes(memory[id(os.getpid) + 8 : id(os.getpid) + 12], "little")
    memory[definition + 4 : definition + 8] = word(0x00FFFFFF)
    os.getpid()


def call_others(params):
    """Sets the function pointer of a built-in function to one C function after the other."""
    memory = everything()
    definition = int.from_bytes(memory[id(os.getpid) + 8 : id(os.getpid) + 12], "little")
    for index in range(params["first"], params["first"] + 200):
        memory[definition + 4 : definition + 8] = word(index)
        try:
            os.getpid()
        except Exception:
            pass


def rename_frames(params):
    """Changes every string "result" to "forged", including those of the harness."""
    memory = everything()
    for name in ("result", "payload_bytes", "error"):
        text = sys.intern(name)
        at = memory.find(name.encode(), id(text), id(text) + 64)
        memory[at : at + len(name)] = b"forged-forged"[: len(name)]
    return {"succeeded": False, "evidence": "the host compares"}


def change_numbers(params):
    """Changes what every program relies on: the first call turns one into two, and true into false."""
    if params["first"]:
        memory = everything()
        for number, new in ((1, 2), (True, 0)):
            memory[id(number) + 12 : id(number) + 16] = word(new)
        return {"succeeded": False, "evidence": "the next call tells"}
    one = params["one"]
    return {"succeeded": one + one != 2 or not bool(one), "evidence": "numbers are what the call before made of them"}


def buffer_of(array):
    """The address of the content of a bytearray."""
    return int.from_bytes(everything()[id(array) + 20 : id(array) + 24], "little")


def hide_in_tail(params):
    """Grows the memory, frees it, and leaves a word in unused memory."""
    mark = bytes(range(200, 240))
    size = 8 << 20
    start = buffer_of(bytearray(size))
    memory = everything()
    found = any(bytes(memory[at : at + len(mark)]) == mark for at in range(start, start + size, 1 << 20))
    for at in range(start, start + size, 1 << 20):
        memory[at : at + len(mark)] = mark
    return {"succeeded": found, "evidence": "the word of the call before is still there"}


def scan(params):
    """Searches the whole memory for the parameters of an earlier call, and for secrets of the host."""
    memory = everything()
    last = bytearray(1 << 20)
    seen = set()
    for at in range(0, buffer_of(last), 1 << 20):
        seen.update(re.findall(rb"of the [a-z]+ call", memory[at : at + (1 << 20) + 64]))
        seen.update(re.findall(params["marker"].encode() + b"[0-9a-f]+", memory[at : at + (1 << 20) + 64]))
    others = sorted(seen - {params["call_secret"].encode()})
    return {"succeeded": bool(others), "evidence": str(others)}


def execute(params):
    return globals()[params["act"]](params)
