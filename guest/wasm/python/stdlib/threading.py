
# Added by Skillcell: names what is missing.
def _no_threads(*_, **__):
    raise RuntimeError("a Wasm cell has no threads; list the mode subprocess in the manifest if the skill needs them")


_start_joinable_thread = _no_threads
