"""The base class of Skillware bundles, with the behaviour that their code relies on."""

import os


class SkillwareParamValidationError(ValueError):
    """The parameters do not match the skill's schema."""


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
        self.config = config or {}
        self._credential_fn = credential_fn

    @property
    def manifest(self):
        return self._bundle_manifest

    def execute(self, params):
        if type(self).aexecute is BaseSkill.aexecute:
            raise NotImplementedError("%s defines neither execute nor aexecute" % type(self).__name__)
        # Imported lazily, because it costs more than everything else here and few skills need it.
        import asyncio

        return asyncio.run(self.aexecute(params))

    async def aexecute(self, params):
        import asyncio

        return await asyncio.to_thread(self.execute, params)

    def credential(self, key):
        """Looks in the config first, then asks the callback, then looks in the environment."""
        if isinstance(self.config, dict) and self.config.get(key):
            return self.config[key]
        if self._credential_fn is not None:
            value = self._credential_fn(key)
            if value:
                return value
        return os.environ.get(key)

    def validate_params(self, params):
        """Checks the keywords that Skillware's schemas use. The host has already checked the manifest's whole schema."""
        schema = self.manifest.get("parameters")
        if not schema or not isinstance(schema, dict):
            return True
        skill = self.manifest.get("name", "unknown_skill")
        if not isinstance(params, dict):
            raise SkillwareParamValidationError(
                "Skill '%s' expects parameter arguments as a JSON object (dict), got %s." % (skill, type(params).__name__)
            )
        for path, problem in _problems(params, schema, ""):
            text = "Skill '%s' parameter validation failed at '%s': %s" % (skill, path or "(root)", problem)
            raise SkillwareParamValidationError(text)
        return True


def _problems(value, schema, path):
    """Yields each mismatch as (dotted path, message), with the messages of the jsonschema package."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared] if declared else []
    known = [_TYPES[name] for name in names if name in _TYPES]
    if known and not any(_is(value, kind) for kind in known):
        yield path, "%r is not of type %s" % (value, ", ".join(map(repr, names)))
    if "enum" in schema and value not in schema["enum"]:
        yield path, "%r is not one of %r" % (value, schema["enum"])
    if isinstance(value, dict):
        for name in schema.get("required") or []:
            if name not in value:
                yield path, "%r is a required property" % name
        for name, rule in (schema.get("properties") or {}).items():
            if name in value:
                yield from _problems(value[name], rule, "%s.%s" % (path, name) if path else name)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _problems(item, schema["items"], "%s.%d" % (path, index) if path else str(index))


def _is(value, kind):
    # True is an int in Python, but not a number in JSON Schema.
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, kind)
