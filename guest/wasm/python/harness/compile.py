"""Compiles the standard library and the harness into one archive, with the interpreters that will read it: two, at the same time."""

import importlib._bootstrap_external as importing
import importlib.util
import io
import os
import zipfile

_SOURCE = "/lib/source.zip"
_ADDED = "/added"
_TARGET = "/tmp/library.zip"
_SHARE = "/tmp/share.zip"
_OTHER = "/tmp/other.zip"
# In bytes of source: the first interpreter also writes the archive, and starts later.
_OTHER_WORK = 400_000
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


def _shares(texts):
    """The names for each of two interpreters, which take about as long: what is done besides is part of it."""
    shares, work = ([], []), [_OTHER_WORK, 0]
    for name in sorted(texts, key=lambda name: (-len(texts[name]), name)):
        least = work.index(min(work))
        shares[least].append(name)
        work[least] += len(texts[name])
    return shares


def _write(path, contents):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), contents[name])
    with open(path, "wb") as file:
        file.write(buffer.getvalue())


def _compile(texts, names):
    contents = {}
    for name in names:
        content = texts[name]
        if name.endswith(".py"):
            try:
                name, content = name + "c", _compiled(name, content)
            except SyntaxError:
                continue
        contents[name] = content
    return contents


def compile_all():
    texts = _sources()
    _write(_TARGET, _compile(texts, texts))


def compile_share(share):
    global _own
    texts = _sources()
    _own = _compile(texts, _shares(texts)[share])
    if share == 1:
        _write(_SHARE, _own)


def merge():
    with zipfile.ZipFile(_OTHER) as archive:
        others = {name: archive.read(name) for name in archive.namelist()}
    _write(_TARGET, {**_own, **others})
