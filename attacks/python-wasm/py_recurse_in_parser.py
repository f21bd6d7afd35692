"""Compiles endlessly nested source."""

import ast


def execute(params):
    for text in ("(" * 100_000 + ")" * 100_000, "-" * 500_000 + "1", "a" + ".b" * 500_000, "[" * 90 + "1" + "]" * 90):
        try:
            compile(ast.parse(text), "text", "exec")
        except (SyntaxError, RecursionError, MemoryError):
            pass
    ast.literal_eval("-" * 300_000 + "1")
