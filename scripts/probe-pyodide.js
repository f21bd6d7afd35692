/**
 * Runs inside the jail created by probe-pyodide.ts: what Python in Pyodide can reach without being given anything.
 * Prints one JSON object.
 */
import { existsSync } from 'node:fs';
import { loadPyodide } from 'pyodide';

const memory = () => process.memoryUsage().rss;
const [before, began] = [memory(), performance.now()];
const pyodide = await loadPyodide({ jsglobals: {} });
const loadMs = performance.now() - began;

/** What a probe tries; it worked if Python says so and, if there is a file, if the file exists. */
const PROBES = {
  'a shell of the host by `os.system`': {
    code: 'import os; os.system("echo > /tmp/system") == 0',
    file: '/tmp/system',
  },
  'the Function constructor of JavaScript by `pyodide.ffi.to_js`': {
    code: 'from pyodide.ffi import to_js\nto_js([]).constructor.constructor("return typeof process")() == "object"',
  },
  'files of the host by `pyodide_js.mountNodeFS`': {
    code: 'import pyodide_js\npyodide_js.mountNodeFS("/host", "/tmp")\nopen("/host/mounted", "w").close() is None',
    file: '/tmp/mounted',
  },
};

const worked = {};
for (const [name, { code, file }] of Object.entries(PROBES)) {
  worked[name] = answer(code) && (file === undefined || existsSync(file));
}
process.stdout.write(JSON.stringify({ loadMs, residentBytes: memory() - before, worked }));

function answer(code) {
  try {
    return pyodide.runPython(code) === true;
  } catch {
    return false;
  }
}
