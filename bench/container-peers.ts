/**
 * The commands that people would otherwise use to run a skill: `podman run`, `podman exec`, `docker run`, each with the same
 * image as our containers and with options as close to ours as possible.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { startDocker } from '../scripts/docker-service.ts';
import { engineName } from '../src/cell/images/archive.ts';
import { createImageStore } from '../src/cell/images/store.ts';
import { packageRoot } from '../src/inside.ts';
import type { ContainerPeerSet } from './runner/container/run-container-bench.ts';
import { DOCKER_RUN } from './runner/container/targets.ts';
import { ECHO_WORDS } from './runner/jobs.ts';
import { runCommand } from './runner/plain.ts';
import type { Variant } from './runner/rounds.ts';

const WALLS = [
  ...[
    '--network=none',
    '--read-only',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    '--user=65534:65534',
  ],
  ...[
    '--pids-limit=32',
    '--memory=128m',
    '--ulimit=nofile=1024:1024',
    '--ulimit=nproc=1000:1000',
    '--tmpfs=/tmp:size=1m',
  ],
];
const MOUNTS = [
  `--volume=${ECHO_WORDS.dir}:/skill:ro`,
  `--volume=${join(packageRoot(), 'bench', 'plain.py')}:/plain.py:ro`,
];
const PROGRAM = ['/usr/bin/python3', '-I', '-B', '/plain.py', '/skill'];
const HOLDER = 'skillcell-bench-holder';

export class ContainerPeers implements ContainerPeerSet {
  readonly variants: Variant[] = [];
  readonly leftOut: string[] = [];
  dockerSocket: string | undefined;
  readonly #closers: (() => Promise<void> | void)[] = [];

  /** Starts the available ones, each with its own storage. */
  static async open({ folder, home }: { folder: string; home: string }): Promise<ContainerPeers> {
    const images = createImageStore({ home });
    const digest = await images.digestFor('localhost/skillcell-python:latest');
    const image = digest === undefined ? undefined : await images.find(digest);
    if (!image) throw new Error('The base image is missing');
    const archive = await images.describe(image, '').archive();
    const peers = new ContainerPeers();
    const podman = peers.#podman(folder, archive);
    if (podman)
      peers.variants.push(runVariant('podman run', podman, image.digest), peers.#exec(podman, image.digest));
    const docker = await peers.#docker(archive);
    if (docker) peers.variants.push(runVariant(DOCKER_RUN, docker, image.digest));
    return peers;
  }

  #podman(folder: string, archive: string): string[] | undefined {
    const runtime = succeeds(['runc', '--version']) ? ['--runtime', 'runc'] : [];
    const storage = ['--root', join(folder, 'podman-root'), '--runroot', join(folder, 'podman-run')];
    const command = ['podman', ...storage, ...runtime];
    if (!succeeds([...command, 'load', '--quiet', '--input', archive])) {
      this.leftOut.push('podman run and exec: podman is missing, or cannot load our image');
      return undefined;
    }
    this.#closers.push(() => {
      succeeds([...command, 'rmi', '--all', '--force']);
      spawnSync('umount', [join(folder, 'podman-root', 'overlay')], { stdio: 'ignore' });
    });
    return command;
  }

  async #docker(archive: string): Promise<string[] | undefined> {
    const { socket, close } = await startDocker();
    this.#closers.push(close);
    const command = ['docker', '--host', `unix://${socket}`];
    if (succeeds([...command, 'load', '--quiet', '--input', archive])) {
      this.dockerSocket = socket;
      return command;
    }
    this.leftOut.push(`${DOCKER_RUN}: docker is missing, or does not start`);
    return undefined;
  }

  /** A waiting container, and a process in it for each call: no call is fresh. */
  #exec(podman: string[], digest: string): Variant {
    const hold = [...podman, 'run', '--detach', '--name', HOLDER, ...WALLS, ...MOUNTS, engineName(digest)];
    if (!succeeds([...hold, '/bin/busybox', 'sleep', '3600']))
      throw new Error('podman could not start a container');
    this.#closers.unshift(() => void succeeds([...podman, 'rm', '--force', '--time', '0', HOLDER]));
    return variant('podman exec', [...podman, 'exec', '--interactive', HOLDER, ...PROGRAM]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers) await close();
  }
}

function runVariant(name: string, command: string[], digest: string): Variant {
  return variant(name, [
    ...command,
    'run',
    '--rm',
    '--interactive',
    ...WALLS,
    ...MOUNTS,
    engineName(digest),
    ...PROGRAM,
  ]);
}

function variant(name: string, argv: string[]): Variant {
  const [program = '', ...args] = argv;
  return {
    name,
    run: () => runCommand({ argv: [program, ...args], input: JSON.stringify(ECHO_WORDS.params) }),
  };
}

function succeeds([program = '', ...args]: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
