import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { share, takeShared } from '../../../../src/cell/engines/python-wasm/shared-engines.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

let folder: string;
let shared: string;
let engine: string;

beforeEach(() => {
  folder = openFolder();
  shared = join(folder, 'shared');
  engine = join(folder, 'one', 'engine');
  mkdirSync(join(engine, 'code'), { recursive: true });
  mkdirSync(join(engine, 'images', '1-a', 'base'), { recursive: true });
  mkdirSync(join(engine, 'images', '1-a', 'skills'));
  writeFileSync(join(engine, 'code', 'library.zip'), 'library');
  writeFileSync(join(engine, 'images', '1-a', 'base', 'image.bin'), 'image');
  writeFileSync(join(engine, 'images', '1-a', 'skills', 'of-one-home'), 'of a skill');
});
afterEach(() => removeFolder(folder));

describe('shared engines', () => {
  it('are found by another home, without saved images of skills', () => {
    share(shared, 'engine', engine);
    const other = join(folder, 'other');
    mkdirSync(other);
    expect(takeShared(shared, 'engine', join(other, 'engine'))).toBe(true);
    expect(readFileSync(join(other, 'engine', 'code', 'library.zip'), 'utf8')).toBe('library');
    expect(readFileSync(join(other, 'engine', 'images', '1-a', 'base', 'image.bin'), 'utf8')).toBe('image');
    expect(existsSync(join(other, 'engine', 'images', '1-a', 'skills'))).toBe(false);
  });

  it('are not replaced if they were shared before', () => {
    share(shared, 'engine', engine);
    writeFileSync(join(engine, 'code', 'more'), '');
    share(shared, 'engine', engine);
    expect(readdirSync(shared)).toEqual(['engine']);
    expect(readdirSync(join(shared, 'engine', 'code'))).toEqual(['library.zip']);
  });

  it('are not taken from an empty folder or one that other users can write to', () => {
    const wanted = join(folder, 'wanted');
    expect(takeShared(shared, 'engine', wanted)).toBe(false);
    share(shared, 'engine', engine);
    chmodSync(shared, 0o777);
    expect(takeShared(shared, 'engine', wanted)).toBe(false);
    expect(existsSync(wanted)).toBe(false);
  });

  it('are not written to a folder that other users can write to', () => {
    mkdirSync(shared);
    chmodSync(shared, 0o770);
    share(shared, 'engine', engine);
    expect(readdirSync(shared)).toEqual([]);
  });
});
