/**
 * Every attack on Python in Wasm is stopped and gets the answer it must get, inside the jail and without one, and
 * the interpreter is byte for byte what it was before.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { sourceNames } from '../../attacks/runner/attack-source.ts';
import { PYTHON_ATTACKS } from '../../attacks/runner/python-attacks.ts';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { findNode } from '../../src/cell/engines/node-process/node-binary.ts';
import { itStopsInWasm } from './suite.ts';

const run = promisify(execFile);
const NAMES = PYTHON_ATTACKS.map(({ name }) => name);
/** Attacks that call the host, search it, or exceed a limit; the others never leave the engine. */
const AT_THE_WALL = PYTHON_ATTACKS.filter(
  ({ name, codes }) =>
    /^py_(?:import|walk|read|write|forge|interrupt)/.test(name) ||
    codes.some((code) => code === 'capability_denied' || code === 'resource_exceeded'),
);
const HOST = join(import.meta.dirname, 'python-image-host.ts');
/** As in a real cell, with space for a second copy of the memory. */
const HOST_FLAGS = ['--max-old-space-size=256', '--stack-size=7000', '--expose-gc'];

it('every attack on Python in Wasm has a source, and every source has an attack', () => {
  const bundles = new Set(PYTHON_ATTACKS.map(({ bundle }) => bundle));
  expect([...bundles].sort()).toEqual(sourceNames('python-wasm'));
  const all = [...NAMES, ...WASM_ATTACKS.map(({ name }) => name)];
  expect(new Set(all).size).toBe(all.length);
});

describe('the attacks on Python in Wasm', () => {
  const home = itStopsInWasm(PYTHON_ATTACKS, AT_THE_WALL);

  describe('leave the memory of the interpreter unchanged', () => {
    let verdicts: Map<string, { changed: boolean; differences: string[] }>;
    beforeAll(async () => {
      const { stdout } = await run(findNode(home()).path, [...HOST_FLAGS, HOST, home()]);
      const lines = stdout.trim().split('\n');
      verdicts = new Map(
        lines.map((line) => {
          const { name, ...verdict } = JSON.parse(line);
          return [name, verdict];
        }),
      );
    });

    it.each(NAMES)('%s', (name) => {
      const verdict = verdicts.get(name);
      expect(verdict?.differences).toEqual([]);
      // A skill that never finishes loading has no cell that could be called.
      expect(verdict?.changed).toBe(name !== 'py_block_at_import');
    });
  });
});
