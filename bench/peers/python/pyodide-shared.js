/** One Pyodide for all calls: not fresh; it shows what freshness costs the others. */
import { loadPyodide } from 'pyodide';
import { callIn } from './job.js';

export async function start() {
  const pyodide = await loadPyodide();
  return { call: (params) => callIn(pyodide, params) };
}
