"""The base class that Skillware bundles derive from, with the behaviour their code relies on."""

import asyncio
import os


class SkillwareParamValidationError(ValueError):
    """The parameters break the skill's schema."""


_TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": (list, tuple),
    "object": dict,
    "null": type(None),
}


class BaseSkill:
    """A skill with a constructor config, a manifest and an execute method."""

    _bundle_manifest: dict = {}

    def __init__(self, config=None, credential_fn=None):
        self.config = config if config is not None else {}
        self._credential_fn = credential_fn

    @property
    def manifest(self):
        return self._bundle_manifest

    def execute(self, params):
        if type(self).aexecute is BaseSkill.aexecute:
            raise NotImplementedError("%s defines neither execute nor aexecute" % type(self).__name__)
        return asyncio.run(self.aexecute(params))

    async def aexecute(self, params):
        return await asyncio.to_thread(self.execute, params)

    def credential(self, key):
        """From the config first, then from the callback, then from the environment."""
        if isinstance(self.config, dict) and self.config.get(key):
            return self.config[key]
        if self._credential_fn is not None:
            value = self._credential_fn(key)
            if value:
                return value
        return os.environ.get(key)

    def validate_params(self, params):
        """Checks required names, types and enums. The host has checked the whole schema already."""
        schema = self.manifest.get("parameters") or {}
        properties = schema.get("properties") or {}
        for name in schema.get("required") or []:
            if name not in params:
                raise SkillwareParamValidationError("'%s' is a required property" % name)
        for name, value in params.items():
            _check(name, value, properties.get(name) or {})
        return True


def _check(name, value, rule):
    declared = rule.get("type")
    names = declared if isinstance(declared, list) else [declared] if declared else []
    known = [_TYPES[n] for n in names if n in _TYPES]
    if known and not any(_is(value, kind) for kind in known):
        raise SkillwareParamValidationError("%r is not of type %s" % (name, " or ".join(map(str, names))))
    if "enum" in rule and value not in rule["enum"]:
        raise SkillwareParamValidationError("%r is not one of %r" % (value, rule["enum"]))


def _is(value, kind):
    # True is an int to Python and no number to JSON Schema.
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind)
