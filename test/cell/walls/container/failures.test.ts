/**
 * Failures around a container have specific errors, and leave nothing running.
 *
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchFault, runSetUp } from '../../../../src/cell/walls/container/faults.ts';
import { createImageStore } from '../../../../src/cell/images/store.ts';
import { childPids } from '../../../../src/cell/linux/memory-watch.ts';
import type { Failure, Outcome } from '../../../../src/outcome.ts';
import { writeSkill } from '../../../write-skill.ts';
import { addImage, type Entry } from '../../images/helpers.ts';
import type { TestRuntime } from '../../test-runtime.ts';
import { BASE_IMAGE, IN_CONTAINER, openContainerRuntime } from './container-runtime.ts';

let opened: TestRuntime;
beforeAll(async () => void (opened = await openContainerRuntime('crun', { pool: { size: 0 } })));
afterAll(() => opened.close());

interface Scripted {
  /** A script of the bundle that the image runs. */
  script?: string;
  manifest?: Record<string, unknown>;
}

function run({ script, manifest = {} }: Scripted, params: unknown = {}): Promise<Outcome> {
  const files = script === undefined ? {} : { tool: script };
  const entry = script === undefined ? {} : { entry: 'tool' };
  const dir = writeSkill(opened.folder, { manifest: { ...IN_CONTAINER, ...entry, ...manifest }, files });
  return opened.runtime.execute(dir, params, { reject: false });
}

async function failure(scripted: Scripted): Promise<Failure['error']> {
  const outcome = await run(scripted);
  return outcome.ok ? expect.fail(`It succeeded: ${JSON.stringify(outcome.result)}`) : outcome.error;
}

/** Adds an image with these files to the store; returns its reference for a manifest. */
async function imageOf(entries: readonly Entry[], changes: Parameters<typeof addImage>[2]): Promise<string> {
  return `localhost/test@${await addImage(createImageStore({ home: join(opened.folder, 'home') }), entries, changes)}`;
}

test('a program of the image receives its parameters as JSON and replies with JSON', async () => {
  const script = '#!/bin/sh\nread -r line; echo "to the log" >&2; echo "{\\"got\\": $line}"\n';
  const outcome = await run({ script }, { text: 'ä "quoted"', list: [1, null] });
  expect(outcome).toMatchObject({ ok: true, result: { got: { text: 'ä "quoted"', list: [1, null] } } });
  expect(outcome.logs).toContain('to the log');
  expect(outcome.execution).toMatchObject({
    mode: 'container',
    wall: 'container',
    engine: 'exec',
    fresh: true,
  });
});

test.each([
  ['exits immediately', '#!/bin/sh\nexit 3\n', 'skill_error', /without a result: exit code 3/],
  ['prints nothing', '#!/bin/sh\nexit 0\n', 'skill_error', /without a result: exit code 0/],
  ['prints a result and fails', '#!/bin/sh\necho 1; exit 4\n', 'skill_error', /exit code 4/],
  ['prints text that is not JSON', '#!/bin/sh\necho hello\n', 'skill_error', /not one JSON value/],
  ['prints two results', '#!/bin/sh\necho 1; echo 2\n', 'skill_error', /not one JSON value/],
  ['writes to the root', '#!/bin/sh\nset -e\necho x > /planted\necho 1\n', 'skill_error', /exit code/],
  ['is not a script', 'just text\n', 'manifest_invalid', /is not a script/],
  ['names a missing program', '#!/no/such/program\n', 'manifest_invalid', /has no program/],
])('an entry that %s fails with its own error', async (...failed) => {
  const [, script, code, message] = failed;
  expect(await failure({ script })).toMatchObject({ code, message: expect.stringMatching(message) });
});

test.each([
  ['memory', '#!/usr/bin/python3\nheld = bytearray(b"x") * (1 << 30)\n', { memory: '64MiB' }],
  ['output', '#!/usr/bin/python3\nprint("x" * (4 << 20))\n', { output: '1MiB' }],
  ['timeout', '#!/bin/sh\nwhile true; do :; done\n', { timeout: '700ms' }],
  ['cpu', '#!/bin/sh\nwhile true; do :; done\n', { cpu: '1s', timeout: '20s' }],
])('an entry that exceeds its %s limit fails with that limit', async (limit, script, limits) => {
  expect(await failure({ script, manifest: { limits } })).toMatchObject({
    code: 'resource_exceeded',
    detail: { limit },
  });
});

test('a missing image is named in the error', async () => {
  const error = await failure({ manifest: { container: { image: 'localhost/nowhere:1' } } });
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringContaining('localhost/nowhere'),
  });
});

test('an image for another architecture is refused', async () => {
  const other = process.arch === 'arm64' ? 'amd64' : 'arm64';
  const image = await imageOf([{ name: 'tool', text: 'x', mode: 0o755 }], { architecture: other });
  const error = await failure({ manifest: { container: { image } } });
  expect(error).toMatchObject({ code: 'skill_unavailable', message: expect.stringContaining(other) });
});

test('an image with programs for another architecture than declared is reported', async () => {
  const header = Buffer.from('7f454c460201010000000000000000000200f700', 'hex');
  const image = await imageOf(
    [{ name: 'tool', text: Buffer.concat([header, Buffer.alloc(64)]), mode: 0o755 }],
    {
      config: { Entrypoint: ['/tool'] },
    },
  );
  const error = await failure({ manifest: { container: { image } } });
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringMatching(/another processor/),
  });
});

test('an image without its entry point is refused', async () => {
  const image = await imageOf([{ name: 'data', text: 'x' }], { config: { Entrypoint: ['/missing'] } });
  expect(await failure({ manifest: { container: { image } } })).toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringContaining('/missing'),
  });
});

test('if an engine dies during a call, its container is killed', async () => {
  const script = '#!/bin/sh\nwhile true; do :; done\n';
  const running = failure({ script });
  const runtime = await childNamed('crun');
  process.kill(runtime, 'SIGKILL');
  const error = await running;
  expect(error).toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringContaining('died during the call'),
  });
  await expect.poll(cells).toEqual([]);
});

test('a machine without a container engine refuses the skill and says why', async () => {
  const container = { makes: ['docker'] as const, dockerSocket: '/nonexistent/docker.sock' };
  const other = await openContainerRuntime('docker', { container });
  onTestFinished(() => other.close());
  const dir = writeSkill(other.folder, {
    manifest: IN_CONTAINER,
    source: 'def execute(params):\n    return 1\n',
  });
  const outcome = await other.runtime.execute(dir, {}, { reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(outcome.ok || outcome.error.message).toContain('docker does not listen on /nonexistent/docker.sock');
});

test('an unknown container runtime is refused', async () => {
  const error = await failure({ manifest: { container: { image: BASE_IMAGE, runtime: 'lxc' } } });
  expect(error).toMatchObject({ code: 'skill_unavailable', detail: { name: 'lxc' } });
});

test('a full disk is reported as such', () => {
  const full = (): void => writeFileSync('/dev/full', 'x');
  const undone: string[] = [];
  expect(() => runSetUp(full, () => undone.push('all'))).toThrow(/The disk is full/);
  expect(undone).toEqual(['all']);
  const output = 'Error: writing blob: no space left on device';
  expect(launchFault(output)).toMatchObject({
    code: 'skill_unavailable',
    message: expect.stringContaining(output),
  });
  expect(launchFault('something else')).toBeUndefined();
});

/** Folders of cells that are left in the home of this test. */
function cells(): string[] {
  return readdirSync(join(opened.folder, 'home', 'containers', 'crun', 'cells'));
}

/** A child of this process with a running container. */
async function childNamed(name: string): Promise<number> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const found = childPids(process.pid).find(
      (pid) => nameOf(pid) === name && childPids(pid).some(isContainer),
    );
    if (found !== undefined) return found;
    await sleep(20);
  }
  return expect.fail(`There is no ${name}`);
}

function isContainer(pid: number): boolean {
  return ['sh', 'busybox'].includes(nameOf(pid));
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}
