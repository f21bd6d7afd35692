/**
 * Hostile images: mount points that are links to the host, fake programs, and layers that replace files that a wall relies
 * on. Whatever the result of the call, the host stays unchanged.
 *
 * @module
 */
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BackendName } from '../../../../src/cell/walls/container/contract.ts';
import { createImageStore } from '../../../../src/cell/images/store.ts';
import type { Outcome } from '../../../../src/index.ts';
import { sharedBaseImage } from '../../images/base-image.ts';
import { tarOf, type Entry } from '../../images/helpers.ts';
import { writeSkill } from '../../../write-skill.ts';
import type { TestRuntime } from '../../test-runtime.ts';
import { openContainerRuntime } from './container-runtime.ts';

const SOURCE = `
  import os
  def execute(params):
      for path in ("/tmp/left", "/skill/left", "/harness/left", "/run/left", "/etc/left", "/victim/left"):
          try:
              open(path, "w").write("left")
          except OSError:
              pass
      return {"uid": os.getuid(), "tmp": sorted(os.listdir("/tmp"))}
`;
/** All in one image; /dev, /proc and /sys as links are refused before anything starts. */
const MOUNT_POINTS = ['skill', 'harness', 'tmp', 'dev/shm', 'run', 'workspace', 'bytecode'];
const ENGINE_FILES = ['etc/hosts', 'etc/resolv.conf', 'etc/hostname', 'run/.containerenv', '.dockerenv'];

describe.each<BackendName>(['crun', 'podman'])('with %s', (backend) => {
  let opened: TestRuntime;
  let victim: string;

  beforeAll(async () => {
    opened = await openContainerRuntime(backend, { pool: { size: 0 }, audit: false });
  });
  beforeEach(() => {
    victim = mkdtempSync(join(opened.folder, 'victim-'));
    chmodSync(victim, 0o755);
    writeFileSync(join(victim, 'sentinel'), 'untouched', { mode: 0o666 });
  });
  afterAll(() => opened.close());

  /** Runs a skill in the base image with one more layer on top. */
  async function callIn(name: string, layer: readonly Entry[]): Promise<Outcome> {
    const images = createImageStore({ home: join(opened.folder, 'home') });
    const base = (await images.find((await sharedBaseImage()).digest)) ?? expect.fail();
    const added = await images.blobs.write([tarOf(layer)]);
    const layers = [...base.layers, added];
    const rootfs = { type: 'layers', diff_ids: layers.map(({ digest }) => digest) };
    const config = Buffer.from(JSON.stringify({ ...base.document, rootfs, history: undefined }));
    const image = `localhost/hostile-${name}:1`;
    await images.name(image, await images.add(config, layers));
    const dir = writeSkill(opened.folder, {
      manifest: { execution: 'container', container: { image } },
      source: SOURCE,
    });
    return opened.runtime.execute(dir, {}, { reject: false });
  }

  function expectUntouched(): void {
    expect(readdirSync(victim)).toEqual(['sentinel']);
    expect(readFileSync(join(victim, 'sentinel'), 'utf8')).toBe('untouched');
    expect(lstatSync(victim).mode & 0o777).toBe(0o755);
  }

  test.each([
    ['absolute', MOUNT_POINTS, (path: string) => path],
    ['climbing', MOUNT_POINTS, (path: string) => `${'../'.repeat(20)}${path.slice(1)}`],
    ['absolute in place of /etc', ['etc'], (path: string) => path],
  ])('links in place of mount points lead nowhere on the host: %s', async (name, points, target) => {
    const layer = points.flatMap((point) => [
      { name: point.replace(/[^/]+$/, (last) => `.wh.${last}`) },
      { name: point, type: '2', linkName: target(victim) },
    ]);
    const outcome = await callIn(`links-${name.replaceAll(/[ /]+/g, '-')}`, layer);
    expectUntouched();
    if (outcome.ok)
      expect(outcome.result).toMatchObject({ uid: expect.toSatisfy((uid) => uid > 0) as number });
    else expect(['manifest_invalid', 'skill_unavailable']).toContain(outcome.error.code);
  });

  test('files that engines write are not written through links', async () => {
    const layer = ENGINE_FILES.map((name) => ({ name, type: '2', linkName: join(victim, 'made') }));
    await callIn('engine-files', layer);
    const sentinel = ENGINE_FILES.map((name) => ({ name, type: '2', linkName: join(victim, 'sentinel') }));
    await callIn('engine-sentinel', sentinel);
    expectUntouched();
  });

  // The result does not depend on the backend.
  if (backend !== 'crun') return;

  test.each<[string, Entry[]]>([
    [
      'a link to the host',
      [{ name: 'usr/bin/python3', type: '2', linkName: `${'../'.repeat(20)}usr/bin/env` }],
    ],
    ['a link to what runs it', [{ name: 'usr/bin/python3', type: '2', linkName: '/proc/self/exe' }]],
    ['a folder', [{ name: 'usr/bin/.wh.python3' }, { name: 'usr/bin/python3', type: '5' }]],
    [
      'no program',
      [{ name: 'usr/bin/.wh.python3' }, { name: 'usr/bin/python3', mode: 0o755, text: 'not a program' }],
    ],
    [
      'a script that says it is done',
      [
        { name: 'usr/bin/.wh.python3' },
        { name: 'usr/bin/python3', mode: 0o755, text: '#!/bin/sh\necho \'{"ok":true}\'; exit 0\n' },
      ],
    ],
    [
      'a program of another machine',
      [
        { name: 'usr/bin/.wh.python3' },
        {
          name: 'usr/bin/python3',
          mode: 0o755,
          text: Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), Buffer.alloc(57, 0x16)]),
        },
      ],
    ],
  ])('a Python that is %s gives an error and no result', async (name, layer) => {
    const outcome = await callIn(`python-${name.replaceAll(' ', '-')}`, layer);
    expect(outcome.ok).toBe(false);
    if (!outcome.ok)
      expect(['manifest_invalid', 'skill_error', 'skill_unavailable']).toContain(outcome.error.code);
    expectUntouched();
  });
});
