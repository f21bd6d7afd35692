/** One Pyodide for all calls: not fresh, and what the others pay for being so. */
import { loadPyodide } from 'pyodide';
import { callIn } from './job.js';

export async function start() {
  const pyodide = await loadPyodide();
  return { call: (params) => callIn(pyodide, params) };
}
