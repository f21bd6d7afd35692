/**
 * Builds the image of Skillcell with podman and tries it for real: every mode, the flags it needs, and controls without them.
 *
 *     node scripts/with-node.js scripts/try-image.ts [--base IMAGE --build-base IMAGE] [--engine docker] [--keep]
 *
 * Without --base it makes both bases from Debian packages with mmdebstrap, so that no image registry is needed; this needs
 * root and takes some minutes. Run by hand; docs/deploy.md says what it showed.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildWithDebian, importInto, removeImages } from './image/build.ts';
import { CHECKS, type Container } from './image/checks.ts';
import { startDocker } from './docker-service.ts';
import { PROFILE_FILE } from './service-seccomp.ts';
import { ROOT } from './steps.ts';

const IMAGE = 'localhost/skillcell-try';
const PATIENCE_MS = 300_000;
/** A machine without CAP_SYS_RESOURCE cannot raise the limits that engines set by default. */
const LIMITS = ['--ulimit', 'nofile=1024:4096', '--ulimit', 'nproc=4096:4096'];
/** As the documents say, apart from the network, which these checks do not need. */
const CONFINED = ['--network=none', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--read-only'];

interface Engine {
  command: readonly string[];
  /** Shows all of /proc, without which no new /proc can be mounted. */
  unmask: string;
  extra: readonly string[];
  env: NodeJS.ProcessEnv;
}

/** crun refuses the hybrid of both cgroup versions, where systemd has not been told to use one. */
function podman(): Engine {
  const isHybrid = existsSync('/sys/fs/cgroup/unified');
  return {
    command: ['podman', ...(isHybrid ? ['--runtime', 'runc'] : [])],
    unmask: '--security-opt=unmask=/proc/*',
    // Its health checks are timers of systemd.
    extra: ['--no-healthcheck'],
    env: process.env,
  };
}

function docker(socket: string): Engine {
  return {
    command: ['docker'],
    unmask: '--security-opt=systempaths=unconfined',
    extra: ['--no-healthcheck'],
    env: { ...process.env, DOCKER_HOST: `unix://${socket}` },
  };
}

function containerOf({ command, unmask, extra, env }: Engine): Container {
  const [program = '', ...first] = command;
  const call = (args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(program, [...first, ...args], { cwd: ROOT, env, encoding: 'utf8', timeout: PATIENCE_MS });
  const run = [...CONFINED, '--tmpfs=/tmp', ...LIMITS, ...extra];
  return {
    call,
    flags: { run, profile: [`--security-opt=seccomp=${PROFILE_FILE}`], unmask: [unmask] },
    image: IMAGE,
  };
}

function tryEngine(name: string, container: Container): number {
  let failures = 0;
  for (const { title, check } of CHECKS) {
    const problem = check(container);
    console.log(`${problem === undefined ? 'ok    ' : 'FAILED'} ${name}: ${title}`);
    if (problem === undefined) continue;
    failures += 1;
    console.log(problem.trim().replaceAll(/^/gm, '       '));
  }
  return failures;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      'build-base': { type: 'string' },
      engine: { type: 'string', default: 'podman' },
      keep: { type: 'boolean', default: false },
    },
  });
  const { base, 'build-base': buildBase } = values;
  const engine = podman();
  const dockerfile = join('deploy', 'image', 'Dockerfile');
  const places = { command: engine.command, image: IMAGE, dockerfile, keep: values.keep };
  if (
    !buildWithDebian(places, base === undefined || buildBase === undefined ? undefined : { base, buildBase })
  )
    return 1;
  try {
    if (values.engine === 'podman') return tryEngine('podman', containerOf(engine));
    const service = await startDocker();
    try {
      const there = docker(service.socket);
      if (!importInto(there, { from: engine.command, image: IMAGE })) return 1;
      return tryEngine('docker', containerOf(there));
    } finally {
      await service.close();
    }
  } finally {
    if (!values.keep) removeImages(places);
  }
}

if (import.meta.main) process.exitCode = (await main()) === 0 ? 0 : 1;
