"""Finds the callable of a skill: one BaseSkill class, or a plain function `execute(params)`."""

import sys

MODULE_NAME = "skill_module"


class NoEntry(Exception):
    """The module defines nothing that can be called as a skill."""


def run_module(path, code=None):
    """Executes the module body with the surroundings a normal script has."""
    folder = path.rpartition("/")[0]
    sys.path.insert(0, folder)
    if code is None:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    module = type(sys)(MODULE_NAME)
    module.__file__ = path
    sys.modules[MODULE_NAME] = module
    exec(code, module.__dict__)
    return module


def find_callable(module, manifest):
    """A function of params. A class is instantiated here, as work in the constructor is common."""
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
    def call(params):
        value = function(params)
        if not hasattr(value, "__await__"):
            return value
        import asyncio

        async def wait():
            return await value

        return asyncio.run(wait())

    return call
