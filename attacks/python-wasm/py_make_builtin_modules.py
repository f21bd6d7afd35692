"""Recreates removed built-in modules, bypassing the import system."""

import _imp
import importlib.machinery

NAMES = """_ctypes _posixsubprocess _pyodide_core _remote_debugging _testcapi _testinternalcapi _testbuffer _testsinglephase
    faulthandler fcntl mmap termios xxsubtype""".split()


def execute(params):
    made = []
    for name in NAMES:
        spec = importlib.machinery.ModuleSpec(name, importlib.machinery.BuiltinImporter, origin="built-in")
        try:
            module = _imp.create_builtin(spec)
        except ImportError:
            continue
        if module is not None:
            made.append(name)
    return {"succeeded": bool(made), "evidence": str(made)}
