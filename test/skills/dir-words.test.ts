/**
 * A skill that needs a granted folder.
 */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill } from '../../src/inside.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { bundled, copySource, editManifest } from './copy-skill.ts';

let opened: TestRuntime;

beforeAll(() => {
  opened = openTestRuntime({ audit: false });
});

afterAll(() => opened.close());

describe('text/dir_words', () => {
  const EXPECTED = {
    files: [
      { name: 'a"b.txt', bytes: 6, words: 2 },
      { name: 'z.txt', bytes: 19, words: 3 },
    ],
    total_words: 5,
  };
  let workspace: string;

  beforeAll(() => {
    workspace = join(opened.folder, 'workspace');
    mkdirSync(join(workspace, 'inner'), { recursive: true });
    writeFileSync(join(workspace, 'z.txt'), 'one  two\nthree\n\t\r\n ');
    writeFileSync(join(workspace, 'a"b.txt'), 'ä  b\n');
    writeFileSync(join(workspace, 'other.md'), 'not counted');
    writeFileSync(join(workspace, 'inner', 'deep.txt'), 'not counted');
    writeFileSync(join(opened.folder, 'secret.txt'), 'not reachable');
    symlinkSync('../secret.txt', join(workspace, 'link.txt'));
  });

  test('counts only the files of the granted folder', async () => {
    const { result } = await opened.runtime.execute(bundled('text/dir_words'), {}, { workspace });
    expect(result).toEqual(EXPECTED);
  });

  test('returns the same result if it is built here', async () => {
    const dir = copySource('text/dir_words', opened.folder);
    buildSkill(dir);
    const { result } = await opened.runtime.execute(dir, {}, { workspace });
    expect(result).toEqual(EXPECTED);
  });

  test('sees individually granted files and nothing next to them', async () => {
    const dir = copySource('text/dir_words', join(opened.folder, 'single'));
    cpSync(bundled('text/dir_words/skill.wasm'), join(dir, 'skill.wasm'));
    const rule = '    - { path: "${workspace}", access: read }';
    const rules = ['z.txt', 'other.md'].map((name) => rule.replace('}"', `}/${name}"`));
    editManifest(dir, (text) => text.replace(rule, rules.join('\n')));
    const { result, capabilities } = await opened.runtime.execute(dir, {}, { workspace });
    expect(result).toEqual({ files: [EXPECTED.files[1]], total_words: 3 });
    expect(capabilities.used.map(({ asked }) => asked)).toContain('read /workspace/z.txt');
  });

  test('has no folder if none is granted', async () => {
    const outcome = await opened.runtime.execute(bundled('text/dir_words'), {}, { reject: false });
    expect(outcome.ok).toBe(false);
    expect(outcome.logs).toContain('Cannot open the folder "/workspace"');
  });
});
