"""Returns a string that a pattern in its own outputs matches in exponential time.

outputs: { text: { type: string, pattern: '^(a+)+$' } }
"""


def execute(params):
    return {"text": "a" * 60 + "!"}
