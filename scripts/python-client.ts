/**
 * Builds the Python client as users get it: a wheel, installed into an empty environment, imported, and its types checked by
 * `mypy --strict`. Needs pip and an index with setuptools and mypy, so CI does not run it.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passes, ROOT, runProgram, type Step } from './steps.ts';

const PROGRAM = `
from skillcell import Client, Local, Outcome, SkillError, execute_isolated

def call(client: Client) -> Outcome:
    return client.execute("text/word_stats", {"text": "To be"}, timeout=30)

def local() -> object:
    try:
        with Local() as runtime:
            return runtime.execute("text/word_stats", {"text": "To be"}).result
    except SkillError as error:
        return error.fix

print(execute_isolated.__name__)
`;

function steps(folder: string): readonly Step[] {
  const source = join(folder, 'source');
  const python = join(folder, 'venv/bin/python');
  const program = join(folder, 'program.py');
  // Building leaves files behind in the source.
  cpSync(join(ROOT, 'clients/python'), source, { recursive: true });
  writeFileSync(program, PROGRAM);
  const pip = (...args: string[]): boolean => runProgram(python, ['-m', 'pip', '--quiet', ...args]);
  return [
    { title: 'venv', run: () => runProgram('python3', ['-m', 'venv', join(folder, 'venv')]) },
    { title: 'wheel', run: () => pip('wheel', '--no-deps', '--wheel-dir', join(folder, 'wheels'), source) },
    { title: 'wheel is typed', run: () => isTyped(folder) },
    { title: 'install', run: () => pip('install', '--no-deps', wheelOf(folder)) },
    { title: 'import', run: () => runProgram(python, [program]) },
    { title: 'mypy', run: () => pip('install', 'mypy') },
    { title: 'types of the client', run: () => runProgram(python, ['-m', 'mypy'], { cwd: source }) },
    { title: 'types for a program', run: () => runProgram(python, ['-m', 'mypy', '--strict', program]) },
  ];
}

function wheelOf(folder: string): string {
  const [wheel = ''] = globSync('wheels/skillcell-*-py3-none-any.whl', { cwd: folder });
  return join(folder, wheel);
}

function isTyped(folder: string): boolean {
  const { stdout } = spawnSync('python3', ['-m', 'zipfile', '--list', wheelOf(folder)], { encoding: 'utf8' });
  return stdout.includes('skillcell/py.typed') && !stdout.includes('tests/');
}

const folder = mkdtempSync(join(tmpdir(), 'skillcell-python-'));
try {
  process.exitCode = steps(folder).every(passes) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
