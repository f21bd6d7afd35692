/** Pyodide, loaded again for every call in one process that has loaded it before. */
import { loadPyodide } from 'pyodide';
import { callIn } from './job.js';

export async function start() {
  await loadPyodide();
  return { call: async (params) => callIn(await loadPyodide(), params) };
}
