/** The job as Python source, for peers that run text: a program that defines `execute`. */
import { readFileSync } from 'node:fs';

export const JOB_SOURCE = readFileSync(new URL('../../skills/echo_words/skill.py', import.meta.url), 'utf8');

/** The same as a complete program: params as JSON on stdin, the result as JSON on stdout. */
export const JOB_PROGRAM = `${JOB_SOURCE}
import json, sys
print(json.dumps(execute(json.load(sys.stdin))))
`;

/** One call in an unused Pyodide. */
export function callIn(pyodide, params) {
  const globals = pyodide.toPy({ PARAMS: params });
  return pyodide.runPython(`${JOB_SOURCE}\nimport json\njson.dumps(execute(json.loads(PARAMS)))`, {
    globals,
  });
}
