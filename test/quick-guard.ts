/**
 * Runs inside every test file of the quick gear, and fails a file that starts a cell, a container or a browser, or that
 * installs something: it is slow, and needs programs that may be missing. Move it to another gear (`scripts/gears.ts`).
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { afterAll, expect } from 'vitest';

const FORBIDDEN = new Set([
  'apt-get',
  'bwrap',
  'chromium',
  'crun',
  'docker',
  'dockerd',
  'podman',
  'runc',
  'runsc',
]);

const started: ChildProcess[] = [];
channel('child_process').subscribe((message) => {
  started.push((message as { process: ChildProcess }).process);
});

afterAll(() => {
  const programs = started.map(({ spawnfile }) => basename(spawnfile ?? ''));
  expect(programs.filter((program) => FORBIDDEN.has(program))).toEqual([]);
});
