/**
 * The cost of a call in a container, next to the commands that people would otherwise use, in the same rounds.
 *
 * @module
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildBase } from '../../../src/inside.ts';
import { inBenchFolder } from '../bench-folder.ts';
import { currentLoad, readMachine, type MachineFacts } from '../machine.ts';
import { plainCommand, plainVariants } from '../plain.ts';
import { ECHO_WORDS } from '../jobs.ts';
import { measureRounds, type Variant } from '../rounds.ts';
import type { Row } from '../statistics.ts';
import type { Target } from '../targets.ts';
import { ContainerVariants } from './ours.ts';
import { checkContainerTargets } from './targets.ts';

/** Closes before its folder is removed. */
export interface ContainerPeerSet extends AsyncDisposable {
  variants: Variant[];
  leftOut: string[];
  dockerSocket?: string | undefined;
}

export interface ContainerBenchOptions {
  rounds: number;
  /** Other ways to run the same job in the same image, from a home that has it. */
  peers?: (place: { folder: string; home: string }) => Promise<ContainerPeerSet>;
}

export interface ContainerReport {
  machine: MachineFacts;
  rows: Row[];
  /** Names of the peers' rows. */
  peers: string[];
  targets: Target[];
  leftOut: string[];
}

const NO_PEERS: ContainerPeerSet = {
  variants: [],
  leftOut: [],
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

export function runContainerBench(options: ContainerBenchOptions): Promise<ContainerReport> {
  return inBenchFolder((folder) => benchIn(folder, options));
}

async function benchIn(folder: string, { rounds, peers }: ContainerBenchOptions): Promise<ContainerReport> {
  const home = join(folder, 'home');
  const machine = await readMachine(home, 'python', 'container');
  await buildBase('python', { home });
  await using others = (await peers?.({ folder, home })) ?? NO_PEERS;
  await using ours = await ContainerVariants.open({ folder, home, dockerSocket: others.dockerSocket });
  const plain = join(folder, 'plain');
  mkdirSync(plain);
  const [bare] = plainVariants(plainCommand(ECHO_WORDS, plain));
  const rows = await measureRounds([...(bare ? [bare] : []), ...ours.variants, ...others.variants], rounds);
  return {
    machine: { ...machine, loadAtEnd: currentLoad() },
    rows,
    peers: others.variants.map(({ name }) => name),
    targets: checkContainerTargets(rows),
    leftOut: [...ours.leftOut, ...others.leftOut],
  };
}
