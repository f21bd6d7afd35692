/** The job as Python source, for peers that run a text: a program that leaves `execute` behind. */
import { readFileSync } from 'node:fs';

export const JOB_SOURCE = readFileSync(new URL('../../skills/echo_words/skill.py', import.meta.url), 'utf8');

/** The same as a whole program: params as JSON on stdin, the result as JSON on stdout. */
export const JOB_PROGRAM = `${JOB_SOURCE}
import json, sys
print(json.dumps(execute(json.load(sys.stdin))))
`;

/** One call in a Pyodide that nobody has used yet. */
export function callIn(pyodide, params) {
  const globals = pyodide.toPy({ PARAMS: params });
  return pyodide.runPython(`${JOB_SOURCE}\nimport json\njson.dumps(execute(json.loads(PARAMS)))`, {
    globals,
  });
}
