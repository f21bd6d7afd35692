"""The last step before the base image: loads what skills commonly import, once for all of them."""

import gc
import sys

_before = set(sys.modules)

import base64, bisect, collections, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions  # noqa: E401, E402
import functools, hashlib, heapq, hmac, html, html.parser, inspect, io, itertools, json, logging, math, operator  # noqa: E401, E402
import os, pathlib, random, re, secrets, selectors, statistics, string, struct, tempfile, textwrap, time, traceback, types  # noqa: E401, E402
import typing, unicodedata, urllib.parse, uuid  # noqa: E401, E402

import _skillcell.wasm_library  # noqa: E402
import skillware.core.base_skill  # noqa: E402
from _skillcell import wasm_cell  # noqa: E402

_skillcell.wasm_library.adapt()
wasm_cell.PRELOADED = sorted(name for name in set(sys.modules) - _before if not name.startswith("_skillcell"))

prepare, load, serve = wasm_cell.prepare, wasm_cell.load, wasm_cell.serve

sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
sys.stderr.reconfigure(errors="backslashreplace")
gc.collect()
gc.freeze()
