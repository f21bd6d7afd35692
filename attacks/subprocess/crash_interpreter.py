"""Crashes the interpreter."""

import ctypes


def execute(params):
    ctypes.string_at(0)
