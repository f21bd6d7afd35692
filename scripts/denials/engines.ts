/**
 * The columns of the table: every way to run a skill, with its language. A new engine is one more row here,
 * and a new language one more function.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineName } from '../../src/vocabulary/engines.ts';
import type { Mode } from '../../src/vocabulary/modes.ts';
import type { WallName } from '../../src/vocabulary/walls.ts';
import type { RuntimeOptions } from '../../src/runtime.ts';
import type { Op } from './acts.ts';
import { componentFor } from './components.ts';

/** The act in one language, or why it has no such act. */
export type Program =
  | {
      entry: string;
      content: string | Uint8Array;
      params: Record<string, unknown>;
      /** Why nobody reports the act, which has to fail all the same. */
      unreported?: string;
    }
  | { none: string };

export interface Column {
  title: string;
  mode: Mode;
  engine: EngineName;
  wall: WallName;
  /** Options of the runtime that select exactly this wall. */
  options: RuntimeOptions;
  program: (op: Op) => Program;
  /** The image of the container, if it is another one. */
  image?: string;
  /** The program is a command of an Agent Skills folder. */
  isCommand?: boolean;
}

const sourceOf = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');
const [PYTHON, JAVASCRIPT, SHELL] = [sourceOf('skill.py'), sourceOf('skill.js'), sourceOf('act.sh')];
const NO_PROCESSES = 'a Wasm cell has no processes, and a manifest that declares some does not run there';
const WITHOUT_JAIL: RuntimeOptions = { jail: { bwrap: '/nonexistent' } };

function pythonFor(op: Op): Program {
  return { entry: 'skill.py', content: PYTHON, params: { ...op } };
}

const NO_CALLS = 'it cannot call skills, and a manifest that declares some is refused';

/** The same source as a command: what it raises ends it with a traceback and exit code 1. */
function scriptFor(op: Op): Program {
  if (op.op === 'call') return { none: NO_CALLS };
  const content = `${PYTHON}\n\nimport json, sys\nprint(execute(json.loads(sys.argv[1])))\n`;
  const entry = 'scripts/act.py';
  return { entry, content, params: { command: ['python', entry, JSON.stringify(op)] } };
}

function scriptWasmFor(op: Op): Program {
  return op.op === 'crowd' ? { none: NO_PROCESSES } : scriptFor(op);
}

/** Only for skills; what a script of Node imports is Node's. */
const NODE_IMPORTS = `import { readFile } from 'node:fs/promises';
const requireEnv = (name) => {
  if (process.env[name] === undefined) throw new Error(name + ' is not set');
  return process.env[name];
};
`;

function nodeScriptFor(op: Op): Program {
  if (op.op === 'call') return { none: NO_CALLS };
  const acts = JAVASCRIPT.replaceAll(/^import .*\n/gm, '');
  const content = `${NODE_IMPORTS}${acts}\nconsole.log(JSON.stringify(await execute(JSON.parse(process.argv[2]))));\n`;
  const entry = 'scripts/act.mjs';
  return { entry, content, params: { command: ['node', entry, JSON.stringify(op)] } };
}

const NO_REPORT_OF_SHELL =
  'it is stopped as everywhere, and the command that tries it fails, but nobody reports it';
const UNREPORTED_BY_SHELL: ReadonlySet<Op['op']> = new Set([
  'read',
  'write',
  'environment',
  'crowd',
  'scratch',
]);

function shellFor(op: Op): Program {
  if (op.op === 'call') return { none: NO_CALLS };
  if (op.op === 'spawn')
    return { none: 'a shell that could start nothing would do nothing: it may start 16 processes' };
  const entry = 'scripts/act.sh';
  const given = op.op === 'read' ? [op.path] : op.op === 'environment' ? [op.name] : [];
  const args = op.op === 'fetch' ? [op.method, op.url] : given;
  const params = { command: ['bash', entry, op.op, ...args] };
  return {
    entry,
    content: SHELL,
    params,
    ...(UNREPORTED_BY_SHELL.has(op.op) ? { unreported: NO_REPORT_OF_SHELL } : {}),
  };
}

function pythonWasmFor(op: Op): Program {
  return op.op === 'crowd' ? { none: NO_PROCESSES } : pythonFor(op);
}

function javaScriptFor(op: Op): Program {
  return { entry: 'skill.js', content: JAVASCRIPT, params: { ...op } };
}

const NOT_IN_QUICKJS: Readonly<Record<string, string>> = {
  write: 'this engine cannot write files',
  spawn: NO_PROCESSES,
  crowd: NO_PROCESSES,
  scratch: 'this engine has no scratch space',
};

function quickJsFor(op: Op): Program {
  const none = NOT_IN_QUICKJS[op.op];
  return none === undefined ? javaScriptFor(op) : { none };
}

const NO_HARNESS =
  'it is stopped as everywhere, but the image has no harness to report it: the program sees a bare errno, or no such variable';
const UNREPORTED: ReadonlySet<Op['op']> = new Set([
  'read',
  'write',
  'environment',
  'spawn',
  'crowd',
  'scratch',
]);
const MAIN = 'import json, sys\nprint(json.dumps(execute(json.load(sys.stdin))))\n';

/** A plain program of the image, without our harness. */
function imageProgramFor(op: Op): Program {
  if (op.op === 'call') return { none: NO_CALLS };
  if (UNREPORTED.has(op.op)) return { none: NO_HARNESS };
  return { entry: 'tool', content: `#!/usr/bin/python3\n${PYTHON}\n\n${MAIN}`, params: { ...op } };
}

const python = { engine: 'python', mode: 'subprocess', program: pythonFor } as const;
const script = { engine: 'script', mode: 'subprocess', program: scriptFor, isCommand: true } as const;
const nodeScript = { ...script, program: nodeScriptFor } as const;
const shellScript = { ...script, program: shellFor } as const;
const containerScript = { ...script, mode: 'container', wall: 'container' } as const;
/** The image of the other columns has no shell. */
export const SHELL_IMAGE = 'denials-shell';
const containerShell = {
  ...containerScript,
  program: shellFor,
  image: `localhost/skillcell-${SHELL_IMAGE}`,
} as const;
const scriptWasm = {
  engine: 'python-wasm',
  mode: 'wasm',
  program: scriptWasmFor,
  isCommand: true,
} as const;
const pythonWasm = { engine: 'python-wasm', mode: 'wasm', program: pythonWasmFor } as const;
const node = { engine: 'node', mode: 'subprocess', program: javaScriptFor } as const;
const jsWasm = { engine: 'js-wasm', mode: 'wasm', program: quickJsFor } as const;
const containerPython = {
  engine: 'python',
  mode: 'container',
  wall: 'container',
  program: pythonFor,
} as const;
const imageProgram = {
  engine: 'exec',
  mode: 'container',
  wall: 'container',
  program: imageProgramFor,
} as const;
const component = { engine: 'component', mode: 'wasm', program: componentFor } as const;

export const COLUMNS: readonly Column[] = [
  { title: 'python, jail', wall: 'jail', options: {}, ...python },
  { title: 'python, crun', options: { container: { makes: ['crun'] } }, ...containerPython },
  { title: 'python, podman', options: { container: { makes: ['podman'] } }, ...containerPython },
  { title: 'python, docker', options: { container: { makes: ['docker'] } }, ...containerPython },
  { title: 'exec, crun', options: { container: { makes: ['crun'] } }, ...imageProgram },
  { title: 'exec, podman', options: { container: { makes: ['podman'] } }, ...imageProgram },
  { title: 'exec, docker', options: { container: { makes: ['docker'] } }, ...imageProgram },
  { title: 'script, jail', wall: 'jail', options: {}, ...script },
  { title: 'script, crun', options: { container: { makes: ['crun'] } }, ...containerScript },
  { title: 'script, podman', options: { container: { makes: ['podman'] } }, ...containerScript },
  { title: 'script, docker', options: { container: { makes: ['docker'] } }, ...containerScript },
  { title: 'script of Node, jail', wall: 'jail', options: {}, ...nodeScript },
  { title: 'script of a shell, jail', wall: 'jail', options: {}, ...shellScript },
  {
    title: 'script of a shell, crun',
    options: { container: { makes: ['crun'] } },
    ...containerShell,
  },
  {
    title: 'script of a shell, podman',
    options: { container: { makes: ['podman'] } },
    ...containerShell,
  },
  {
    title: 'script of a shell, docker',
    options: { container: { makes: ['docker'] } },
    ...containerShell,
  },
  { title: 'script in Wasm, jail', wall: 'jail', options: {}, ...scriptWasm },
  { title: 'script in Wasm, process', wall: 'process', options: WITHOUT_JAIL, ...scriptWasm },
  { title: 'node, jail', wall: 'jail', options: {}, ...node },
  { title: 'python-wasm, jail', wall: 'jail', options: {}, ...pythonWasm },
  { title: 'python-wasm, process', wall: 'process', options: WITHOUT_JAIL, ...pythonWasm },
  { title: 'js-wasm, jail', wall: 'jail', options: {}, ...jsWasm },
  { title: 'js-wasm, process', wall: 'process', options: WITHOUT_JAIL, ...jsWasm },
  { title: 'component, jail', wall: 'jail', options: {}, ...component },
  { title: 'component, process', wall: 'process', options: WITHOUT_JAIL, ...component },
];
