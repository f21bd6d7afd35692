/**
 * `skillcell init --from`: makes a skill of an existing script. A script with a function `execute` is one already; any other
 * Python script is run as a program by a small wrapper.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import { packageRoot } from '../package-root.ts';

const ENTRIES: Readonly<Record<string, string>> = { '.py': 'skill.py', '.ts': 'skill.ts', '.js': 'skill.js' };
const PYTHON_EXECUTE = /^(?:async\s+)?def\s+execute\s*\(|^class\s+\w+\s*\([^)]*\bBaseSkill\b/m;
const SCRIPT_EXECUTE =
  /^export\s+(?:async\s+)?function\s+execute\b|^export\s+(?:const|let)\s+execute\b|^export\s*\{[^}]*\bexecute\b/m;
/** A parameter that the code reads, and a bracket if it must be there. */
const READ_PARAMETER =
  /\bparams(\[|\.get\(|\?\.?\[|\.(?!get\b))\s*(?:['"]([A-Za-z_]\w*)['"]|([A-Za-z_]\w*))/g;
const MAX_BYTES = 4 * 1024 * 1024;

export interface FromOptions {
  /** The script, or the folder of a `skill.py`, `skill.ts` or `skill.js`. */
  from: string;
  /** The folder of the new skill. */
  dir: string;
  /** Whether the caller chose the folder. */
  isChosen: boolean;
  cwd: string;
}

export interface FromScript {
  dir: string;
  /** The files to write, by path. */
  files: Map<string, string>;
  /** Parameters to try it with. */
  sample: Record<string, unknown>;
  /** The script is already the entry in this folder. */
  isInPlace: boolean;
}

/** Plans the files; writes nothing. */
export function planFromScript(name: string, options: FromOptions): FromScript {
  const source = findScript(options);
  const file = basename(source);
  const text = readFileSync(source, 'utf8');
  const entry = ENTRIES[extname(file)] ?? '';
  const isEntry = file === entry;
  const dir = isEntry && !options.isChosen ? dirname(source) : options.dir;
  const isInPlace = isEntry && dir === dirname(source);
  if (isInPlace) requireFitting(name, dir, options.cwd);
  const hasExecute = (entry === 'skill.py' ? PYTHON_EXECUTE : SCRIPT_EXECUTE).test(text);
  if (!hasExecute && (entry !== 'skill.py' || isEntry)) throw withoutExecute(options.from, entry);
  const skill = hasExecute ? plainSkill(name, entry, text) : wrappedSkill(name, file);
  const code = hasExecute
    ? [[entry, text] as const]
    : [[file, text] as const, ['skill.py', wrapperFor(name, file)] as const];
  return { dir, isInPlace, sample: skill.sample, files: new Map([...code, ...documents(name, skill)]) };
}

/** Writes the files, except the script itself if it is already there. Never overwrites a file. */
export function writePlanned({ dir, files }: FromScript): string[] {
  mkdirSync(dir, { recursive: true });
  const missing = [...files].filter(([path]) => !existsSync(join(dir, path)));
  for (const [path, text] of missing) writeFileSync(join(dir, path), text, { flag: 'wx' });
  return missing.map(([path]) => path).toSorted();
}

interface Described {
  entry: string;
  about: string;
  parameters: object;
  outputs?: object;
  sample: Record<string, unknown>;
}

function plainSkill(name: string, entry: string, text: string): Described {
  // In Python, `params.items` is a method of the dict.
  const found = [...text.matchAll(READ_PARAMETER)].filter(
    ([, , quoted]) => quoted !== undefined || entry !== 'skill.py',
  );
  const names = [...new Set(found.map(([, , quoted, plain]) => quoted ?? plain ?? ''))];
  const isRequired = (one: string): boolean =>
    found.some(([, access, quoted]) => quoted === one && access === '[');
  const required = names.filter((one) => isRequired(one) && entry === 'skill.py');
  return {
    entry,
    about: summaryOf(text) ?? `Describe here what ${name} does and when an agent should use it.`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(names.map((one) => [one, {}])),
      ...(required.length > 0 ? { required } : {}),
    },
    sample: Object.fromEntries((required.length > 0 ? required : names).map((one) => [one, 'Hello'])),
  };
}

function wrappedSkill(name: string, file: string): Described {
  return {
    entry: 'skill.py',
    about: `Runs ${file}. Describe here what ${name} does and when an agent should use it.`,
    parameters: {
      type: 'object',
      properties: {
        args: { type: 'array', items: { type: 'string' }, description: `Arguments of ${file}.` },
        stdin: { type: 'string', description: 'What it reads from standard input.' },
      },
      additionalProperties: false,
    },
    outputs: { exit_code: { type: 'integer' }, stdout: { type: 'string' } },
    sample: { args: [] },
  };
}

function wrapperFor(name: string, file: string): string {
  const template = readFileSync(join(packageRoot(), 'templates/script/skill.py'), 'utf8');
  return template.replaceAll('{{name}}', name).replaceAll('{{script}}', file);
}

/** The first line of the docstring or comment at the top. */
function summaryOf(text: string): string | undefined {
  const [, line] = /^(?:#!.*\n)?\s*(?:"""|'''|\/\*\*?|\/\/|#)\s*\*?\s*([^\n"'*]{3,200})/.exec(text) ?? [];
  return line?.trim();
}

function documents(
  name: string,
  { entry, about, parameters, outputs, sample }: Described,
): [string, string][] {
  const [category = '', short = ''] = name.split('/');
  const lines = [
    `name: ${JSON.stringify(name)}`,
    'version: 0.1.0',
    `category: ${JSON.stringify(category)}`,
    `description: ${JSON.stringify(about)}`,
    '# JSON Schema. Add a type and a description to each parameter.',
    `parameters: ${JSON.stringify(parameters)}`,
    ...(outputs ? [`outputs: ${JSON.stringify(outputs)}`] : []),
    'requirements: []',
    'execution: [subprocess, wasm]',
    `entry: ${entry}`,
    '# Everything beyond pure computation is denied unless you declare it here. `skillcell record` finds what is needed.',
    'capabilities: {}',
    'limits: { timeout: 30s, memory: 256MiB, output: 1MiB }',
  ];
  return [
    ['manifest.yaml', `${lines.join('\n')}\n`],
    ['cases.json', `${JSON.stringify([{ name: 'runs', params: sample }], null, 2)}\n`],
    ['instructions.md', `# ${short}\n\n${about}\n`],
  ];
}

function findScript({ from, cwd }: FromOptions): string {
  const path = resolve(cwd, from);
  const found = statSync(path, { throwIfNoEntry: false });
  const candidates = found?.isDirectory() ? Object.values(ENTRIES).map((entry) => join(path, entry)) : [path];
  const file = candidates.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
  const isUsable =
    file !== undefined && /^[\w.-]+\.(?:py|ts|js)$/.test(basename(file)) && statSync(file).size <= MAX_BYTES;
  if (isUsable) return file;
  throw new SkillError('usage', `--from ${JSON.stringify(from)} is not a script that can become a skill`, {
    fix: 'Pass a file that ends with .py, .ts or .js and has a plain name, or a folder with a skill.py.',
    detail: { from },
  });
}

/** The manifest is written next to the script, so the folder must be free for it and have the right name. */
function requireFitting(name: string, dir: string, cwd: string): void {
  const shown = shellWord(relative(cwd, dir) || '.');
  for (const manifest of ['manifest.yaml', 'SKILL.md'])
    if (existsSync(join(dir, manifest)))
      throw new SkillError('usage', `The folder ${JSON.stringify(dir)} already has a ${manifest}`, {
        fix: `It is a skill already. Check it with: skillcell validate ${shown}`,
      });
  const id = relative(join(cwd, 'skills'), dir);
  if (id.startsWith('..') || id === name || id.split('/').length !== 2) return;
  throw new SkillError(
    'usage',
    `The folder ${JSON.stringify(dir)} belongs to the id ${JSON.stringify(id)}, not "${name}"`,
    {
      fix: `Run: skillcell init ${shellWord(id)} --from ${shown}`,
    },
  );
}

function withoutExecute(from: string, entry: string): SkillError {
  const isPython = entry === 'skill.py';
  return new SkillError('usage', `The script ${JSON.stringify(from)} has no function "execute"`, {
    fix: isPython
      ? 'Add `def execute(params):` to it, or give the file another name, so that it is run as a program.'
      : 'Add `export function execute(params) { … }` to it.',
    detail: { from },
  });
}
