/**
 * Programs in Go that tests run: other registries and clients, to judge ours. `test/distribution/go/go.mod` pins their
 * versions; they are built once into a cache outside of the repository.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { runProgram } from './steps.ts';

/** Their packages, by the name of the program. */
const GO_PROGRAMS = {
  crane: 'github.com/google/go-containerregistry/cmd/crane',
  registry: 'github.com/distribution/distribution/v3/cmd/registry',
  'registry-with-referrers': './registry-with-referrers',
  'oras-push': './oras-push',
} as const;

export type GoProgram = keyof typeof GO_PROGRAMS;

/** Where the program is once it is built. Another version of a source or module gives another folder. */
export function goProgram(name: GoProgram): string {
  return join(cacheFolder(), name);
}

/** Builds the programs together, because they share most of their packages. */
export function buildGoPrograms(names: readonly GoProgram[]): void {
  const target = cacheFolder();
  mkdirSync(target, { recursive: true });
  const packages = names.map((name) => GO_PROGRAMS[name]);
  runProgram('go', ['build', '-mod=readonly', '-o', `${target}/`, ...packages], { cwd: moduleFolder() });
}

function moduleFolder(): string {
  return join(packageRoot(), 'test', 'distribution', 'go');
}

function cacheFolder(): string {
  const hash = createHash('sha256');
  const folder = moduleFolder();
  for (const file of globSync('**/*.{go,mod,sum}', { cwd: folder }).sort())
    hash.update(readFileSync(join(folder, file)));
  return join(homedir(), '.cache', 'skillcell-tests', `go-${hash.digest('hex').slice(0, 16)}`);
}
