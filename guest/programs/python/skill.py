"""Runs the source that came with the call as the body of a function, so that it may `return` its result."""

import ast
import asyncio
import linecache

# Shown in tracebacks, as a file of this bundle.
NAME = "/skill/program.py"


def execute(params):
    source = params["source"]
    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
    tree = ast.parse(source, NAME)
    scope = {"__name__": "__main__", "input": params.get("input")}
    exec(compile(_as_function(tree.body), NAME, "exec", dont_inherit=True), scope)
    program = scope.pop("program")
    if _awaits(tree.body):
        return asyncio.run(_finished(program))
    return program()


async def _finished(program):
    return _plain(await program())


def _plain(value):
    """Calls that were not awaited, as their results, while the loop still runs."""
    from _skillcell.skills import _values_in

    return _values_in(value)


def _as_function(body):
    """A plain function if the source awaits nothing itself: it may then run an event loop of its own."""
    futures = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    rest = [node for node in body if node not in futures] or [ast.Pass()]
    kind = ast.AsyncFunctionDef if _awaits(body) else ast.FunctionDef
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = kind(name="program", args=nothing, body=rest, decorator_list=[], type_params=[])
    return ast.fix_missing_locations(ast.Module(body=[*futures, function], type_ignores=[]))


def _awaits(body):
    """Whether the source awaits outside of its own functions."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if isinstance(node, ast.comprehension) and node.is_async:
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
    return False
