"""The last step before skill code runs: seccomp filters that the kernel enforces from here on."""

import ctypes

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


_M_ARENA_MAX = -8


def share_one_arena():
    """Otherwise, glibc reserves 64 MiB of address space per thread, and address space may be limited."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class Filter:
    """A seccomp filter (raw sock_filter bytes), ready to be installed: a zygote builds it once for all forks."""

    def __init__(self, program):
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl
        # Kept, because the kernel reads it through the address in the header.
        self._buffer = ctypes.create_string_buffer(program, len(program))
        self._header = ctypes.byref(_Program(len(program) // 8, ctypes.addressof(self._buffer)))

    def install(self):
        """Adds the filter to this process. It cannot be removed."""
        if self._prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs")
        if self._prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._header, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")


def install_filter(program):
    Filter(program).install()
