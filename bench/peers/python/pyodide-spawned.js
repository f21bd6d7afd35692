/** Pyodide in a process per call: params as JSON on stdin, the result as JSON on stdout. */
import { text } from 'node:stream/consumers';
import { loadPyodide } from 'pyodide';
import { callIn } from './job.js';

const [params, pyodide] = await Promise.all([text(process.stdin), loadPyodide()]);
process.stdout.write(callIn(pyodide, params));
