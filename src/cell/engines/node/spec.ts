/**
 * The launch spec of a skill in Node: inside a jail, with Node's permission checks in front of the kernel so that denials
 * can be explained. The checks are a courtesy: the kernel stops the same acts without them.
 *
 * @module
 */
import { hasGateway, type Grant } from '../../../policy/grant.ts';
import type { LaunchSpec } from '../../contract.ts';
import type { NodeBinary } from '../node-process/node-binary.ts';

const MIB = 1024 * 1024;
/** Readable in every cell: its own code, the system's programs and libraries, its own processes and devices. */
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
/** The part of the memory limit that is not for the heap: the program itself, code, stacks and buffers. */
const OUTSIDE_HEAP_BYTES = 48 * MIB;
const LEAST_HEAP_BYTES = 16 * MIB;
/** V8 reserves 512 MiB for the code of each thread that runs scripts: the main thread and four workers. */
const RESERVED_BYTES = 3 * 1024 * MIB;
/** Node's threads other than the main one. The kernel counts them as processes, and all start before the skill. */
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
    lowPriority: true,
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
  // Otherwise, any process of the same user could start an inspector in it.
  '--disable-sigusr1',
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=SecurityWarning',
];

/** While needs are recorded, the checks only report, also what is granted; the jail still denies everything else. */
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

/** The garbage collector has to know the limit; otherwise, garbage would reach it first. */
function heap({ limits }: Grant): string[] {
  const bytes = Math.max(LEAST_HEAP_BYTES, limits.memory - OUTSIDE_HEAP_BYTES);
  return [`--max-old-space-size=${Math.floor(bytes / MIB)}`, '--max-semi-space-size=4', '--v8-pool-size=2'];
}
