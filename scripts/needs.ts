/**
 * What suites need from the machine beyond npm, and how it gets there. A new need is one more row.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { runProgram } from './steps.ts';

/** A program that suites cannot do without. */
export interface Need {
  readonly name: string;
  /** Tried, not looked up: a program that is there but may not work here is missing. */
  readonly probe: readonly [program: string, ...args: string[]];
  readonly debianPackage: string;
  /** Globs of the test files that need it. */
  readonly suites: readonly string[];
}

const NATIVE_SUITES = [
  'test/cell/**',
  'test/runtime*',
  'test/runtime/**',
  'test/cli/**',
  'test/attacks/**',
  'test/bench/**',
  'test/readme/**',
];

export const NEEDS: readonly Need[] = [
  {
    name: 'bubblewrap with user namespaces',
    probe: ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'],
    debianPackage: 'bubblewrap',
    suites: NATIVE_SUITES,
  },
  {
    name: 'prlimit',
    probe: ['prlimit', '--version'],
    debianPackage: 'util-linux',
    suites: NATIVE_SUITES,
  },
  {
    name: 'the system Python',
    probe: ['/usr/bin/python3', '--version'],
    debianPackage: 'python3',
    suites: [...NATIVE_SUITES, 'test/load/**'],
  },
  {
    name: 'pip of the system Python',
    probe: ['/usr/bin/python3', '-m', 'pip', '--version'],
    debianPackage: 'python3-pip',
    suites: ['test/load/requirements*', 'test/cell/**/requirements*'],
  },
];

/** Installs what is missing where that is possible, and returns what is missing still. */
export function provide(needs: readonly Need[]): readonly Need[] {
  const missing = needs.filter(isMissing);
  if (missing.length === 0 || !canInstall()) return missing;
  const packages = missing.map((need) => need.debianPackage);
  console.log(`Installing ${packages.join(', ')} with apt-get.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // A failed update can still leave usable lists; the install tells.
  runProgram('apt-get', ['update', '-qq'], { env });
  runProgram('apt-get', ['install', '-qq', '--yes', '--no-install-recommends', ...packages], { env });
  return missing.filter(isMissing);
}

function isMissing(need: Need): boolean {
  const [program, ...args] = need.probe;
  return spawnSync(program, args, { stdio: 'ignore', timeout: 30_000 }).status !== 0;
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && isDebian();
}

function isDebian(): boolean {
  try {
    return /^ID(?:_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
  } catch {
    return false;
  }
}
