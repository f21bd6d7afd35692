"""Returns a key that a pattern in its own outputs matches in exponential time.

outputs: { texts: { type: object, patternProperties: { '^(a+)+$': { type: integer } } } }
"""


def execute(params):
    return {"texts": {"a" * 60 + "!": 1}}
