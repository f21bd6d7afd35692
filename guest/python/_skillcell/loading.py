"""Finds the callable of a skill: one BaseSkill class, or a plain function `execute(params)`."""

import _frozen_importlib_external as importing
import _imp
import marshal
import sys

MODULE_NAME = "skill_module"
_BUNDLE = "/skill"
_PACKAGES = "/deps"
_IS_COROUTINE = 0x80
# Bytecode from the inspection of the bundle: /bytecode/skill/a.py for /skill/a.py.
_BYTECODE = "/bytecode"


class NoEntry(Exception):
    """The module defines nothing that can be called as a skill."""


class _BundleLoader(importing.SourceFileLoader):
    """Loads precompiled bytecode if there is any, otherwise compiles the source."""

    def get_code(self, fullname):
        try:
            with open(_BYTECODE + self.path, "rb", buffering=0) as file:
                return marshal.loads(file.read())
        except FileNotFoundError:
            return super().get_code(fullname)


def _find_in_bundle(path):
    if path != _BUNDLE and not path.startswith(_BUNDLE + "/"):
        raise ImportError
    # runpy also asks for scripts, and would take any finder for a package.
    if not importing._path_isdir(path):
        raise ImportError
    native = (importing.ExtensionFileLoader, _imp.extension_suffixes())
    return importing.FileFinder(path, native, (_BundleLoader, [".py"]))


def compile_module(path):
    return _BundleLoader(MODULE_NAME, path).get_code(MODULE_NAME)


def run_module(path, code=None):
    """Executes the module body in the environment of a normal script."""
    sys.path_hooks.insert(0, _find_in_bundle)
    sys.path.insert(0, path.rpartition("/")[0])
    sys.path.append(_PACKAGES)
    code = code or compile_module(path)
    module = type(sys)(MODULE_NAME)
    module.__file__ = path
    sys.modules[MODULE_NAME] = module
    exec(code, module.__dict__)
    return module


def find_callable(module, manifest):
    """Returns a function of params. Instantiates a class here, because constructors often do expensive work."""
    skills = _skill_classes(module)
    if len(skills) > 1:
        names = ", ".join(sorted(cls.__name__ for cls in skills))
        raise NoEntry("the module defines more than one skill class: %s" % names)
    if skills:
        return _from_class(skills[0], manifest)
    function = getattr(module, "execute", None)
    if callable(function):
        return _awaited(function)
    raise NoEntry("the module defines neither a BaseSkill class nor a function execute(params)")


def _skill_classes(module):
    base = sys.modules.get("skillware.core.base_skill")
    if base is None:
        return []
    members = vars(module).values()
    return [c for c in members if isinstance(c, type) and issubclass(c, base.BaseSkill) and c.__module__ == MODULE_NAME]


def _from_class(cls, manifest):
    cls._bundle_manifest = manifest
    skill = cls()
    base = sys.modules["skillware.core.base_skill"].BaseSkill
    only_async = cls.execute is base.execute and cls.aexecute is not base.aexecute
    return _awaited(skill.aexecute if only_async else skill.execute)


def _awaited(function):
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _IS_COROUTINE:
        # Imported here once instead of in every call.
        import asyncio

    def call(params):
        value = function(params)
        if not hasattr(value, "__await__"):
            return value
        import asyncio

        async def wait():
            return await value

        return asyncio.run(wait())

    return call
