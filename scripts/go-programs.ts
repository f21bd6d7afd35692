/**
 * Programs in Go that tests run: other registries and clients to judge ours, and the server of the cluster. The `go.mod` of
 * each folder pins their versions; they are built once into a cache outside of the repository.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { runProgram } from './steps.ts';

/** Folders with a `go.mod`. */
const MODULES = { distribution: 'test/distribution/go', cluster: 'test/cluster/go' } as const;
type Module = keyof typeof MODULES;

export type GoProgram = 'crane' | 'registry' | 'registry-with-referrers' | 'oras-push' | 'nats-server';

/** Their packages, by the name of the program. */
const GO_PROGRAMS: Readonly<Record<GoProgram, { module: Module; package: string }>> = {
  crane: { module: 'distribution', package: 'github.com/google/go-containerregistry/cmd/crane' },
  registry: { module: 'distribution', package: 'github.com/distribution/distribution/v3/cmd/registry' },
  'registry-with-referrers': { module: 'distribution', package: './registry-with-referrers' },
  'oras-push': { module: 'distribution', package: './oras-push' },
  // Go names a program after the folder of its package, without the major version.
  'nats-server': { module: 'cluster', package: 'github.com/nats-io/nats-server/v2' },
};

/** Where the program is once it is built. Another version of a source or module gives another folder. */
export function goProgram(name: GoProgram): string {
  return join(cacheFolder(GO_PROGRAMS[name].module), name);
}

/** Builds the programs of a module together, because they share most of their packages. */
export function buildGoPrograms(names: readonly GoProgram[]): void {
  for (const [module, programs] of Map.groupBy(names, (name) => GO_PROGRAMS[name].module)) {
    const target = cacheFolder(module);
    mkdirSync(target, { recursive: true });
    const packages = programs.map((name) => GO_PROGRAMS[name].package);
    runProgram('go', ['build', '-mod=readonly', '-o', `${target}/`, ...packages], {
      cwd: moduleFolder(module),
    });
  }
}

function moduleFolder(module: Module): string {
  return join(packageRoot(), MODULES[module]);
}

function cacheFolder(module: Module): string {
  const hash = createHash('sha256');
  const folder = moduleFolder(module);
  for (const file of globSync('**/*.{go,mod,sum}', { cwd: folder }).sort())
    hash.update(readFileSync(join(folder, file)));
  return join(homedir(), '.cache', 'skillcell-tests', `go-${hash.digest('hex').slice(0, 16)}`);
}
