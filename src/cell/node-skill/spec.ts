/**
 * How a skill runs in Node: inside a jail, with Node's permission checks in front of the kernel so that denials come with
 * words. The checks stop nothing that the kernel does not stop; they are a courtesy.
 *
 * @module
 */
import { hasGateway, type Grant } from '../../policy/grant.ts';
import type { LaunchSpec } from '../contract.ts';
import type { NodeBinary } from '../node/node-binary.ts';

const MIB = 1024 * 1024;
/** What every cell may look at: its own code, the system's programs and libraries, its own processes and devices. */
const ALWAYS_READABLE = [
  '/skill',
  '/harness',
  '/node',
  '/tmp',
  '/dev',
  '/proc',
  '/usr',
  '/lib',
  '/lib64',
  '/bin',
];
const ALWAYS_WRITABLE = ['/tmp', '/dev'];
/** Of the memory limit, this is not for the heap: the program itself, code, stacks and buffers. */
const OUTSIDE_HEAP_BYTES = 48 * MIB;
const LEAST_HEAP_BYTES = 16 * MIB;
/** V8 reserves half a GiB for the code of each thread that runs scripts: the main one and four workers. */
const RESERVED_BYTES = 3 * 1024 * MIB;
/** Threads of Node beside the main one, which the kernel counts like processes; all of them run before the skill does. */
const NODE_THREADS = 7;

export interface SkillSpecOptions {
  node: NodeBinary;
  /** Folder of the staged harness. */
  code: string;
  /** Verified copy of the bundle. */
  bundle: string;
}

export function skillSpec({ node, code, bundle }: SkillSpecOptions, grant: Grant): LaunchSpec {
  return {
    argv: ['/node/node', ...permissions(grant), ...heap(grant), ...FLAGS, '/harness/node/main.js'],
    stepsBack: true,
    mounts: [
      { host: node.path, guest: '/node/node' },
      { host: code, guest: '/harness' },
      { host: bundle, guest: '/skill' },
    ],
    env: {},
    cwd: '/skill',
    reservedBytes: RESERVED_BYTES,
    reservedThreads: NODE_THREADS,
  };
}

const FLAGS = [
  '--no-addons',
  // Or any process of the same user could open an inspector in it.
  '--disable-sigusr1',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
];

/** While needs are recorded the checks only tell, and also of what is granted; the jail denies all the rest as ever. */
function permissions(grant: Grant): string[] {
  const { filesystem, limits, observe } = grant;
  const paths = (observe ? [] : filesystem).map(({ guest, access, isFile }) => ({
    access,
    names: isFile ? [guest] : below(guest),
  }));
  const readable = [...ALWAYS_READABLE.flatMap(below), ...paths.flatMap(({ names }) => names)];
  const writable = paths.filter(({ access }) => access === 'read-write').flatMap(({ names }) => names);
  return [
    observe ? '--permission-audit' : '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...[...ALWAYS_WRITABLE.flatMap(below), ...writable].map((path) => `--allow-fs-write=${path}`),
    // Threads need no declaration, in any language.
    '--allow-worker',
    ...(limits.processes > 0 && !observe ? ['--allow-child-process'] : []),
    ...(hasGateway(grant) ? ['--allow-fs-read=/run/gateway/*', '--allow-net'] : []),
  ];
}

function below(folder: string): string[] {
  return [folder, `${folder}/*`];
}

/** The collector has to know the limit, or garbage alone would reach it. */
function heap({ limits }: Grant): string[] {
  const bytes = Math.max(LEAST_HEAP_BYTES, limits.memory - OUTSIDE_HEAP_BYTES);
  return [`--max-old-space-size=${Math.floor(bytes / MIB)}`, '--max-semi-space-size=4', '--v8-pool-size=2'];
}
