/**
 * What separates Python from its host when Pyodide is used as published, even with an empty `jsglobals`. Tried in a jail
 * without network, whose only writable folder is its own, and written to `bench/results/`:
 *
 *     node scripts/probe-pyodide.ts
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bytesIn } from '../bench/runner/python-wasm/start.ts';
import { readMachine, type MachineFacts } from '../bench/runner/machine.ts';
import { saveResult } from '../bench/saved-results.ts';
import { PYODIDE } from '../src/cell/engines/python-wasm/pyodide.ts';
import { packageRoot } from '../src/inside.ts';

export interface PyodideReport {
  machine: MachineFacts;
  version: string;
  packageBytes: number;
  loadMs: number;
  residentBytes: number;
  /** What was tried, and whether it worked. */
  worked: Record<string, boolean>;
}

const NOBODY = '65534';
const JAIL = [
  ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--uid', NOBODY, '--gid', NOBODY],
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
];

async function probe(): Promise<PyodideReport> {
  const root = packageRoot();
  const script = join(root, 'scripts', 'probe-pyodide.js');
  // The project may be below /tmp, which the jail replaces with its own.
  const args = [...JAIL, '--ro-bind', root, root, process.execPath, '--no-warnings', script];
  const text = execFileSync('bwrap', args, { encoding: 'utf8', timeout: 60_000 });
  const home = mkdtempSync(join(tmpdir(), 'probe-pyodide-'));
  try {
    const packageBytes = bytesIn(dirname(import.meta.resolve('pyodide/package.json').replace('file://', '')));
    const facts = { machine: await readMachine(home, 'python-wasm'), version: PYODIDE.version, packageBytes };
    return { ...facts, ...(JSON.parse(text) as Pick<PyodideReport, 'loadMs' | 'residentBytes' | 'worked'>) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const report = await probe();
  console.log(JSON.stringify(report.worked, null, 2));
  console.log(`Written to ${saveResult(report, 'pyodide')}`);
}
