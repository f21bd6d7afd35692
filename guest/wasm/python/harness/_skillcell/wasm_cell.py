"""A cell in WebAssembly. The interpreter is imaged after `prepare`, and again after `load`; every call runs on a copy.

The layer around the engine calls the three functions with bytes and ignores what they return.
"""

import gc
import os
import random
import sys

from . import cell, denials, minijson

# Saved, because a skill may replace them.
_random_state, _urandom = random.getstate, os.urandom
# Library modules that are in the base image; set when it is made.
PRELOADED = []


class _Cell:
    """What `prepare` received."""

    work = None
    run_command = None
    loader = None


def prepare(data):
    """Applies the grant: environment, files, and which modules the bundle brings itself."""
    # The base image contains a generator state that every skill would start with.
    random.seed()
    init = minijson.loads(data)
    os.environ.update(init["env"])
    if init["task"] == "inspect":
        from . import inspector

        # Bytecode is for cells that start without an image.
        _Cell.work = lambda params: {**inspector.inspect_all(params["files"]), "bytecode": {}}
        return
    forget(init.get("siblings", ()))
    if init["network"]:
        from . import wasm_network

        wasm_network.install()
    denials.install(init["view"], denials.Reporter())
    if init["task"] == "script":
        from . import wasm_script

        _Cell.run_command = wasm_script.run_command
        return
    if init.get("skills"):
        from . import skills, wasm_calls

        skills.install(wasm_calls)
    _Cell.loader = cell._Loader(init)
    _Cell.loader.compile()
    _Cell.work = lambda params: _Cell.loader.skill()(params)


def load(_):
    """Runs the module body ahead of the calls. A failure is kept for the call that needs the skill."""
    if _Cell.loader is None:
        return
    before = _random_state()
    _Cell.loader.run()
    if _random_state() != before:
        # The layer sees reads of outside randomness; this value came from a generator seeded before.
        _urandom(1)
    _close_archives()
    flush()
    # Exempt what the body left from later garbage collections, so that calls stay cheap.
    gc.collect()
    gc.freeze()


def serve(data):
    # The image contains the generator state, and every call starts from the image.
    random.seed()
    if _Cell.run_command is not None:
        return _Cell.run_command(minijson.loads(data))
    cell.answer(lambda: _Cell.work(minijson.loads(data)))


def _close_archives():
    """Looking up package versions keeps the library's archive open, and a body with an open file is not imaged."""
    metadata = sys.modules.get("importlib.metadata")
    if metadata is not None:
        metadata.MetadataPathFinder.invalidate_caches()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def forget(siblings):
    """A bundle may have a file with the name of a library module; its code must find its own file."""
    for name in PRELOADED:
        if name.partition(".")[0] in siblings:
            sys.modules.pop(name, None)
