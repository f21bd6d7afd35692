"""Finds what a module does on import and what it keeps between calls. A static analysis, so only an estimate."""

import ast

MOST = 20
# Calls with effects outside the module, by the end of their dotted name.
EFFECTS = {
    "open", "print", "input", "exec", "eval", "__import__", "os.getenv", "os.listdir", "os.walk", "os.scandir", "os.makedirs",
    "os.mkdir", "os.remove", "os.unlink", "os.chdir", "os.putenv", "os.system", "os.popen", "os.environ.get",
    "os.environ.setdefault", "os.environ.update", "sys.path.insert", "sys.path.append", "sys.exit", "time.sleep", "time.time",
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "random.seed", "random.random", "random.randint",
    "random.choice", "uuid.uuid4", "secrets.token_hex", "logging.basicConfig", "signal.signal", "atexit.register",
    "load_dotenv", "threading.Thread", "importlib.import_module", "warnings.filterwarnings", "nltk.download",
}  # fmt: skip
EFFECT_MODULES = {"socket", "requests", "httpx", "urllib", "http", "subprocess", "shutil", "tempfile", "ctypes", "multiprocessing"}
EFFECT_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "glob", "rglob", "mkdir", "touch", "unlink", "exec_module"}
MUTATORS = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "remove", "discard", "clear", "appendleft"}


def execute(params):
    trees = {}
    for path, source in sorted(params["files"].items()):
        try:
            trees[path] = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
    functions = effects_of_functions(trees)
    imports, state = [], []
    for path, tree in trees.items():
        imports += [finding(what, path, line) for what, line in import_effects(tree, functions)]
        state += [finding(what, path, line) for what, line in kept_state(tree)]
    return {"imports": imports[:MOST], "state": state[:MOST]}


def finding(value, path, line):
    return {"value": value, "at": "%s:%d" % (path, line)}


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
        return ".".join(reversed(parts))
    return "." + ".".join(reversed(parts)) if parts else ""


def effect_of(node):
    """Returns the external effect of this node, or None."""
    if isinstance(node, ast.Subscript) and dotted(node.value) == "os.environ":
        return "os.environ"
    if not isinstance(node, ast.Call):
        return None
    name = dotted(node.func)
    if name in EFFECTS or any(name.endswith("." + effect) for effect in EFFECTS if "." in effect):
        return name
    parts = name.split(".")
    if (len(parts) > 1 and parts[0] in EFFECT_MODULES and parts[1] not in ("parse", "error", "cookies", "HTTPStatus")) or parts[-1] in EFFECT_METHODS:
        return name.lstrip(".")
    return None


def effects_of_functions(trees):
    """Functions and classes that have an effect when called, directly or through a function that they call."""
    bodies = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                bodies.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.ClassDef):
                starts = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
                bodies.setdefault(node.name, []).extend(starts)
    bodies.pop("__init__", None)
    found = {}
    while True:
        before = len(found)
        for name, nodes in bodies.items():
            if name not in found:
                effects = [effect for node in nodes for effect in effects_in(node, found)]
                if effects:
                    found[name] = effects[0]
        if len(found) == before:
            return found


def effects_in(node, functions):
    for inner in ast.walk(node):
        effect = effect_of(inner)
        if effect:
            yield effect
        elif isinstance(inner, ast.Call):
            called = dotted(inner.func).split(".")[-1]
            if called in functions:
                yield functions[called]


def import_effects(tree, functions):
    """Nodes that run on import: the bodies of classes, ifs and loops, but not of functions."""
    found = {}
    waiting = [node for node in tree.body if not is_main_guard(node)]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += getattr(node, "decorator_list", [])
            continue
        effect = effect_of(node)
        if effect is None and isinstance(node, ast.Call):
            effect = functions.get(dotted(node.func).split(".")[-1])
        if effect:
            found.setdefault(effect, node.lineno)
        waiting += list(ast.iter_child_nodes(node))
    return sorted(found.items(), key=lambda item: item[1])


def is_main_guard(node):
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def kept_state(tree):
    """State that functions write and that outlives them: module names, and members of the skill's instance."""
    own = {target.id for node in tree.body for target in targets_of(node) if isinstance(target, ast.Name)}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            local = local_names(node)
            shared = {name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names}
            for name, line in written_in(node):
                root = name.split(".")[0]
                if name in shared or (root in own and root not in local and name != root + "="):
                    found.setdefault(root, line)
        if isinstance(node, ast.ClassDef) and is_skill_class(node):
            for name, line in empty_members(node):
                found.setdefault(name, line)
            for method in node.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name != "__init__":
                    for name, line in written_in(method):
                        if name.startswith("self."):
                            found.setdefault(name.rstrip("="), line)
    return sorted(found.items(), key=lambda item: item[1])


def empty_members(node):
    """Members such as `self.cache = {}` that start empty and are used later, so they are meant to be filled."""
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        for inner in ast.walk(method) if method.name == "__init__" else []:
            for target in targets_of(inner):
                if isinstance(target, ast.Attribute) and dotted(target).startswith("self.") and is_empty(inner.value):
                    if any(is_used(target.attr, other) for other in node.body if other is not method):
                        yield dotted(target), inner.lineno


def is_empty(value):
    if isinstance(value, ast.Call):
        return dotted(value.func).split(".")[-1] in ("dict", "list", "set", "defaultdict", "OrderedDict", "deque", "Counter") and not value.keywords
    return (isinstance(value, ast.Dict) and not value.keys) or (isinstance(value, ast.List) and not value.elts)


def is_used(attribute, node):
    return any(isinstance(inner, ast.Attribute) and inner.attr == attribute for inner in ast.walk(node))


def is_skill_class(node):
    return any(isinstance(one, ast.FunctionDef) and one.name == "execute" for one in node.body)


def targets_of(node):
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []


def local_names(function):
    arguments = function.args
    names = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    shared = {name for inner in ast.walk(function) if isinstance(inner, ast.Global) for name in inner.names}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names - shared


def written_in(function):
    """Names that are written: `x` for `global x; x = 1`, `x.` for `x[1] = 2` and `x.append(1)`, `self.y` for members."""
    for node in ast.walk(function):
        for target in targets_of(node):
            yield from written_target(target, node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            name = dotted(node.func.value)
            if name and not name.startswith("."):
                yield (name if "." in name else name + "."), node.lineno


def written_target(target, line):
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from written_target(one, line)
    elif isinstance(target, ast.Subscript):
        name = dotted(target.value)
        if name and not name.startswith("."):
            yield (name if "." in name else name + "."), line
    elif isinstance(target, ast.Attribute):
        yield dotted(target), line
    elif isinstance(target, ast.Name):
        yield target.id, line
