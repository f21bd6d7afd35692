"""Loads a native library."""

import _imp
import glob
import importlib.machinery
import os

# A side module for Emscripten: the header, and the section that its loader looks for.
SIDE_MODULE = b"\0asm\1\0\0\0\0\x0f\x08dylink.0\1\4\0\0\0\0"


def execute(params):
    found = sorted(glob.glob(os.path.dirname(os.__file__) + "/lib-dynload/_*.so"))
    path = found[0] if found else "/tmp/_side.cpython-314-wasm32-emscripten.so"
    if not found:
        with open(path, "wb") as file:
            file.write(SIDE_MODULE)
    name = os.path.basename(path).partition(".")[0]
    module = _imp.create_dynamic(importlib.machinery.ModuleSpec(name, None, origin=path))
    return {"succeeded": module is not None, "evidence": path}
