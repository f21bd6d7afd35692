/** Pyodide, restored for every call from a memory snapshot that is taken once and stays in memory. */
import { loadPyodide } from 'pyodide';
import { callIn } from './job.js';

export async function start() {
  const first = await loadPyodide({ _makeSnapshot: true });
  first.runPython('import json');
  const snapshot = first.makeMemorySnapshot();
  return { call: async (params) => callIn(await loadPyodide({ _loadSnapshot: snapshot }), params) };
}
