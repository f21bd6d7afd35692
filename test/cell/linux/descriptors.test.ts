import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../load/helpers.ts';
import { PYTHON } from '../walls/jail/jailed-python.ts';

const HOST = join(import.meta.dirname, 'leaking-host.ts');
/** Above the lowest ones, which Node closes itself, and opened out of order. */
const LEAKED = [9, 251, 30, 64, 20];

/** Starts the host with the file open on each descriptor, as a careless parent would. */
const CARELESS_PARENT = `
import os, sys
file, node, host, *numbers = sys.argv[1:]
opened = os.open(file, os.O_RDONLY)
for number in map(int, numbers):
    os.dup2(opened, number, inheritable=True)
os.execv(node, [node, host])
`;

describe('descriptors that the host inherited without close-on-exec', () => {
  test('do not reach a jailed program', () => {
    const file = join(tempDir(), 'secret');
    writeFileSync(file, 'secret');
    const args = ['-c', CARELESS_PARENT, file, process.execPath, HOST, ...LEAKED.map(String)];
    const { stdout, stderr } = spawnSync(PYTHON, args, { encoding: 'utf8' });
    const seen = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    );
    expect(stderr).toBe('');
    expect(seen.get('0')).toBe('/dev/null');
    expect([...seen.values()].filter((target) => target.includes('secret'))).toEqual([]);
    // Proves that they were open: they are replaced with /dev/null.
    expect(seen.get('30')).toBe('/dev/null');
    expect(seen.get('251')).toBe('/dev/null');
  });
});
