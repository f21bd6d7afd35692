"""Plants modules, finders and hooks and looks for them in the next call."""

import importlib.abc
import sys


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        return None


def execute(params):
    planted = "planted_module" in sys.modules or "/tmp/planted" in sys.path
    found = planted or any(type(one).__name__ == "Finder" for one in sys.meta_path)
    sys.modules["planted_module"] = sys.modules["random"] = sys
    sys.path.insert(0, "/tmp/planted")
    sys.meta_path.insert(0, Finder())
    sys.path_hooks.insert(0, lambda path: None)
    sys.path_importer_cache["/tmp/planted"] = None
    return {"succeeded": found, "evidence": "the plant of the call before is still there"}
