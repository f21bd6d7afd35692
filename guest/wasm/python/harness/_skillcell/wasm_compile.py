"""Compiles installed packages once, so that no cell has to. Their code is not run."""

import importlib._bootstrap_external as importing
import importlib.util
import os

_PACKAGES = "/deps"
_TARGET = "/tmp"


def compile_packages():
    for folder, _, names in os.walk(_PACKAGES):
        for name in names:
            if name.endswith(".py"):
                _compile(os.path.join(folder, name))


def _compile(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        code = compile(source, path, "exec", dont_inherit=True, optimize=0)
    except Exception:
        # Packages contain templates and code for other versions; an import of them reports the error.
        return
    target = _TARGET + importlib.util.cache_from_source(path)[len(_PACKAGES) :]
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        # Unchecked, because both are stored under the digest of the source.
        file.write(importing._code_to_hash_pyc(code, importlib.util.source_hash(source), False))
