"""Compiles the standard library and the harness into one archive, with the interpreter that will read it."""

import importlib._bootstrap_external as importing
import importlib.util
import io
import os
import zipfile

_SOURCE = "/lib/source.zip"
_ADDED = "/added"
_TARGET = "/tmp/library.zip"
_LIBRARY = "/lib/python314.zip"
_LEFT_OUT = ("pyodide/", "_pyodide/", "test/", "idlelib/", "turtledemo/", "ensurepip/")
_FIXED_TIME = (2020, 1, 1, 0, 0, 0)


def _sources():
    """Path in the archive and text. Additions come last and may extend a file of the library."""
    with zipfile.ZipFile(_SOURCE) as archive:
        texts = {
            item.filename: archive.read(item)
            for item in archive.infolist()
            if not item.is_dir() and not item.filename.startswith(_LEFT_OUT)
        }
    for folder, _, names in os.walk(_ADDED):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                text = file.read()
            place = os.path.relpath(path, _ADDED)
            texts[place] = texts[place] + b"\n" + text if place in texts else text
    return texts


def _compiled(name, source):
    code = compile(source, "%s/%s" % (_LIBRARY, name), "exec", dont_inherit=True, optimize=0)
    # Unchecked, because there is no source to compare with.
    return bytes(importing._code_to_hash_pyc(code, importlib.util.source_hash(source), False))


def _write():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(_sources().items()):
            if name.endswith(".py"):
                try:
                    name, content = name + "c", _compiled(name, content)
                except SyntaxError:
                    continue
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), content)
    with open(_TARGET, "wb") as file:
        file.write(buffer.getvalue())


_write()
