import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { NOTHING_INSPECTED } from '../../src/load/inspection.ts';
import type { Inspection } from '../../src/load/inspection.ts';
import { Offload } from '../../src/offload/offload.ts';
import { loadBundle, lockBundle } from '../../src/load/load-bundle.ts';
import type { BundleLocation, LoadDeps } from '../../src/load/load-bundle.ts';
import type { Bundle } from '../../src/load/bundle.ts';
import { createStore } from '../../src/load/store.ts';
import { tempDir, writeTree } from './helpers.ts';

const MANIFEST = `
name: text/shout
version: "1.0.0"
description: Shouts.
parameters: { type: object, properties: { text: { type: string } } }
capabilities: {}
`;

interface Skill {
  location: BundleLocation;
  deps: LoadDeps;
  load: () => Promise<Bundle>;
}

const offload = new Offload();
afterAll(() => offload.close());

/** A bundle on disk and everything needed to load it; inspection returns the given findings. */
function skillWith(tree: Record<string, string>, found: Partial<Inspection> = {}): Skill {
  const dir = writeTree(join(tempDir(), 'skills/text/shout'), {
    'skill.py': 'def execute(params): ...\n',
    ...tree,
  });
  const location: BundleLocation = { ref: 'text/shout', dir, origin: 'project' };
  const inspection = { ...NOTHING_INSPECTED, ...found };
  const deps: LoadDeps = {
    store: createStore({ home: join(tempDir(), 'home') }),
    offload,
    // Reads only the staged copy: fails if the entry is missing there.
    inspect: async (stagedDir) =>
      existsSync(join(stagedDir, 'skill.py')) ? inspection : Promise.reject(new Error()),
  };
  return { location, deps, load: () => loadBundle(location, deps) };
}

describe('loadBundle', () => {
  test('returns a verified, staged bundle', async () => {
    const { location, load } = skillWith({
      'manifest.yaml': MANIFEST,
      'instructions.md': 'Shout.',
      'data/a': '1',
    });
    const bundle = await load();
    expect(bundle).toMatchObject({
      origin: 'project',
      sourceDir: location.dir,
      lock: 'unlocked',
      entry: 'skill.py',
      instructions: 'Shout.',
      warnings: [expect.stringContaining('no skill.lock')],
    });
    expect(bundle.manifest.name).toBe('text/shout');
    expect(Object.keys(bundle.files)).toEqual(['data/a', 'instructions.md', 'manifest.yaml', 'skill.py']);
    expect(readFileSync(join(bundle.stagedDir, 'data/a'), 'utf8')).toBe('1');
  });

  test('is not affected by later changes to the folder', async () => {
    const { location, load } = skillWith({ 'manifest.yaml': MANIFEST });
    const bundle = await load();
    writeFileSync(join(location.dir, 'skill.py'), 'import socket\n');
    expect(readFileSync(join(bundle.stagedDir, 'skill.py'), 'utf8')).toContain('def execute');
  });

  test('reads SKILL.md with and without a manifest', async () => {
    const skillMd = '---\nname: shout\ndescription: Shouts loudly.\n---\nShout every word.\n';
    const alone = await skillWith({ 'SKILL.md': skillMd }).load();
    expect(alone.manifest.description).toBe('Shouts loudly.');
    expect(alone.manifest.declaresCapabilities).toBe(false);
    expect(alone.instructions?.trim()).toBe('Shout every word.');
    const both = await skillWith({
      'SKILL.md': skillMd,
      'manifest.yaml': MANIFEST,
      'instructions.md': 'i',
    }).load();
    expect(both.manifest).toMatchObject({ name: 'text/shout', declaresCapabilities: true });
    expect(both.instructions).toBe('i');
  });

  test.each([
    ['no manifest', {}],
    ['a broken manifest', { 'manifest.yaml': 'name: [' }],
    ['a missing entry', { 'manifest.yaml': `${MANIFEST}entry: other.py\n` }],
    ['endless instructions', { 'manifest.yaml': MANIFEST, 'instructions.md': 'x'.repeat(300 * 1024) }],
    ['a broken lock', { 'manifest.yaml': MANIFEST, 'skill.lock': '{}' }],
  ])('refuses %s and stages nothing', async (_, tree: Record<string, string>) => {
    const { deps, load } = skillWith(tree);
    await expect(load()).rejects.toMatchObject({ code: 'manifest_invalid' });
    expect(readdirSync(join(deps.store.home, 'store'))).toEqual([]);
  });

  test('refuses a manifest that is not text', async () => {
    const { location, load } = skillWith({});
    writeFileSync(join(location.dir, 'manifest.yaml'), Buffer.from([0x6e, 0xff, 0xfe]));
    await expect(load()).rejects.toMatchObject({
      code: 'manifest_invalid',
      detail: { file: 'manifest.yaml' },
    });
  });

  test('refuses a manifest that is a link', async () => {
    const { location, load } = skillWith({});
    symlinkSync('/etc/passwd', join(location.dir, 'manifest.yaml'));
    await expect(load()).rejects.toMatchObject({
      code: 'manifest_invalid',
      detail: { file: 'manifest.yaml' },
    });
  });
});

describe('loadBundle, on static drift,', () => {
  const found = { modules: [{ value: 'socket', at: 'skill.py:1' }] };

  test('refuses code that the manifest does not cover', async () => {
    const { load } = skillWith({ 'manifest.yaml': MANIFEST }, found);
    await expect(load()).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('imports "socket" (skill.py:1)'),
    });
  });

  test('only warns for a legacy bundle', async () => {
    const legacy = MANIFEST.replace('capabilities: {}\n', '');
    const bundle = await skillWith({ 'manifest.yaml': legacy }, found).load();
    expect(bundle.warnings).toContainEqual(expect.stringContaining('imports "socket"'));
  });
});

describe('a locked bundle', () => {
  async function lockedSkill(): Promise<Skill> {
    const skill = skillWith({ 'manifest.yaml': MANIFEST, 'data/list.txt': 'one\n' });
    writeFileSync(
      join(skill.location.dir, 'skill.lock'),
      (await lockBundle(skill.location, skill.deps)).text,
    );
    return skill;
  }

  test('loads and is reported as locked', async () => {
    const { load } = await lockedSkill();
    expect(await load()).toMatchObject({ lock: 'locked', warnings: [] });
  });

  test('is refused after a change of one byte, and the error names the file', async () => {
    const { location, load } = await lockedSkill();
    appendFileSync(join(location.dir, 'data/list.txt'), ' ');
    await expect(load()).rejects.toMatchObject({
      code: 'manifest_drift',
      exitCode: 2,
      message: expect.stringContaining('data/list.txt'),
      detail: { changed: ['data/list.txt'], missing: [], unlisted: [] },
    });
  });

  test('is refused if a file is missing or new', async () => {
    const { location, load } = await lockedSkill();
    rmSync(join(location.dir, 'data/list.txt'));
    writeFileSync(join(location.dir, 'sitecustomize.py'), '');
    await expect(load()).rejects.toMatchObject({
      detail: { missing: ['data/list.txt'], unlisted: ['sitecustomize.py'] },
    });
  });

  test('is refused if its manifest asks for more, and the error shows the difference', async () => {
    const { location, load } = await lockedSkill();
    const wider = MANIFEST.replace('{}\n', '{ network: [{ host: api.example.com, port: 443 }] }\n');
    writeFileSync(join(location.dir, 'manifest.yaml'), wider);
    await expect(load()).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('+ network api.example.com:443'),
    });
  });

  test('can be locked again and gets the same lock if nothing changed', async () => {
    const { location, deps, load } = await lockedSkill();
    expect((await lockBundle(location, deps)).text).toBe(
      readFileSync(join(location.dir, 'skill.lock'), 'utf8'),
    );
    appendFileSync(join(location.dir, 'data/list.txt'), 'two\n');
    writeFileSync(join(location.dir, 'skill.lock'), (await lockBundle(location, deps)).text);
    expect((await load()).lock).toBe('locked');
  });
});
