/**
 * Real registries for the tests of one file.
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startRegistry, type Registry, type RegistryName } from './registries.ts';

interface RegistriesOfFile {
  /** A folder for the file. */
  room: () => string;
  hostOf: (name: RegistryName) => string;
}

/** Opens these before the tests of a file and stops them after those. */
export function registriesForFile(names: readonly RegistryName[], prefix: string): RegistriesOfFile {
  const registries = new Map<RegistryName, Registry>();
  let room = '';
  beforeAll(async () => {
    // Cells of a root host are not root, and may have to reach what is in it.
    room = mkdtempSync(join(tmpdir(), prefix));
    chmodSync(room, 0o711);
    for (const name of names) registries.set(name, await startRegistry(name, join(room, name)));
  }, 120_000);
  afterAll(async () => {
    for (const registry of registries.values()) await registry.stop();
    rmSync(room, { recursive: true, force: true });
  });
  return { room: () => room, hostOf: (name) => registries.get(name)?.host ?? '' };
}
