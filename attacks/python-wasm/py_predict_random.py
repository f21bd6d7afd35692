"""Predicts the random numbers of a call from the generator state before it."""

import random

BEFORE = random.getstate()


def execute(params):
    now = random.getstate()
    random.setstate(BEFORE)
    return {"succeeded": now == BEFORE, "evidence": "the next number is %r" % random.random()}
