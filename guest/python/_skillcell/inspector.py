"""Inspects Python source without running it: finds imports, environment variables and hosts.

Also compiles the source, so that cells do not have to.
"""

import ast
import base64
import marshal
import re

_HOST = re.compile(r"^(?:https?|wss?|ftp)://([^/\s?#]+)", re.IGNORECASE)
_SKILL = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}/[a-z0-9][a-z0-9_-]{0,99}\Z")
_MAX_FINDINGS = 500
_MAX_BYTECODE = 8 << 20


def inspect_all(files):
    found = {"modules": [], "loads": [], "env": [], "hosts": [], "unparsed": [], "calls": []}
    bytecode = {}
    room = _MAX_BYTECODE
    for name in files:
        try:
            with open("/skill/" + name, "rb") as file:
                source = file.read()
            tree = ast.parse(source, name)
            code = marshal.dumps(compile(source, "/skill/" + name, "exec", dont_inherit=True))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            at = "%s:%s" % (name, line) if line else name
            found["unparsed"].append({"value": "%s: %s" % (type(error).__name__, error), "at": at})
            continue
        room -= len(code)
        if room > 0:
            bytecode[name] = base64.b64encode(code).decode()
        visitor = _Visitor(name, found, _binds(tree, "skills"))
        try:
            visitor.visit(tree)
        except RecursionError:
            found["unparsed"].append({"value": "nested too deeply", "at": name})
    findings = {kind: entries[:_MAX_FINDINGS] for kind, entries in found.items()}
    return {"findings": findings, "bytecode": bytecode}


class _Visitor(ast.NodeVisitor):
    def __init__(self, name, found, has_own_skills):
        self._has_own_skills = has_own_skills
        self._name = name
        self._found = found
        self._seen = set()
        self._functions = 0

    def _add(self, kind, value, node):
        if (kind, value) not in self._seen:
            self._seen.add((kind, value))
            self._found[kind].append({"value": value, "at": "%s:%d" % (self._name, node.lineno)})

    def visit_If(self, node):
        # Code under TYPE_CHECKING never runs.
        if _dotted(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)

    def _visit_function(self, node):
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function

    def _add_load(self, value, node):
        """An import that runs when the file is loaded, as written: with leading dots if it is relative."""
        if not self._functions:
            self._add("loads", value, node)

    def visit_Import(self, node):
        for alias in node.names:
            self._add("modules", alias.name, node)
            self._add_load(alias.name, node)

    def visit_ImportFrom(self, node):
        start = "." * node.level + (node.module or "")
        self._add_load(start, node)
        for alias in node.names:
            if alias.name != "*":
                self._add_load(start + alias.name if start.endswith(".") else start + "." + alias.name, node)
        if node.level or not node.module:
            return
        self._add("modules", node.module, node)
        # `from urllib import request` imports urllib.request. If it is only a name, listing it is harmless.
        for alias in node.names:
            if alias.name != "*":
                self._add("modules", "%s.%s" % (node.module, alias.name), node)

    def visit_Call(self, node):
        name = _dotted(node.func)
        literal = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if isinstance(literal, str):
            if name in ("__import__", "importlib.import_module", "import_module"):
                self._add("modules", literal, node)
            elif name in ("os.getenv", "getenv", "os.environ.get", "environ.get", "os.environ.setdefault", "self.credential"):
                self._add("env", literal, node)
        if name in ("os.system", "os.popen", "os.fork") or name.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
            self._add("modules", name, node)
        called = None if self._has_own_skills else _called_skill(node.func, name)
        if called:
            self._add("calls", called, node)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if _dotted(node.value) in ("os.environ", "environ") and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str) and isinstance(node.ctx, ast.Load):
                self._add("env", node.slice.value, node)
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            match = _HOST.match(node.value)
            if match:
                host = re.sub(r":\d*$", "", match.group(1).rpartition("@")[2])
                self._add("hosts", host.lower()[:255], node)


def _called_skill(function, dotted):
    """`skills.text.word_stats` or `skills["text/word_stats"]` as `text/word_stats`, else None."""
    name = dotted[7:].replace(".", "/") if dotted.startswith("skills.") else ""
    if isinstance(function, ast.Subscript) and _dotted(function.value) == "skills":
        name = function.slice.value if isinstance(function.slice, ast.Constant) else ""
    return name if isinstance(name, str) and _SKILL.match(name) else None


def _binds(tree, name):
    """Whether the file has a variable, parameter, function or import of this name."""
    for node in ast.walk(tree):
        bound = getattr(node, "asname", None) or getattr(node, "arg", None) or getattr(node, "name", None)
        is_stored = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node.id == name
        # A keyword argument of a call binds nothing.
        if is_stored or (bound == name and not isinstance(node, ast.keyword)):
            return True
    return False


def _dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
