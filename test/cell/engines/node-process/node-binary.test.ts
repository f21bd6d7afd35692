import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNode } from '../../../../src/cell/engines/node-process/node-binary.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const isRoot = process.getuid?.() === 0;
let home: string;

beforeEach(() => {
  home = openFolder();
});

afterEach(() => removeFolder(home));

describe('the Node of a cell', () => {
  it('exists and is executable for every user', () => {
    const { path } = findNode(home);
    expect(existsSync(path)).toBe(true);
    expect(statSync(path).mode & 0o005).toBe(0o005);
  });

  it('is copied once to where cells can reach it if only root can reach the original', () => {
    const hidden = join(home, 'hidden');
    mkdirSync(hidden, { mode: 0o700 });
    writeFileSync(join(hidden, 'node'), 'a program');
    chmodSync(join(hidden, 'node'), 0o700);
    const { path } = findNode(home, join(hidden, 'node'));
    // Without root, cells run as the same user.
    if (!isRoot) return expect(path).toBe(join(hidden, 'node'));
    expect(path.startsWith(join(home, 'node'))).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('a program');
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(findNode(home, join(hidden, 'node')).path).toBe(path);
    expect(readdirSync(join(path, '..'))).toEqual(['node']);
    return undefined;
  });
});
