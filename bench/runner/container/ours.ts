/**
 * The same skill in containers of every backend on this machine: started for the call, and waiting for it.
 *
 * @module
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime, type Runtime, type RuntimeOptions, type Skill } from '../../../src/index.ts';
import { ECHO_WORDS } from '../jobs.ts';
import { KEPT_MS } from '../ours.ts';
import type { Timing, Variant } from '../rounds.ts';
import { coldName, poolName } from './targets.ts';

export const MAKES = ['crun', 'runc', 'podman', 'docker'] as const;
export type Make = (typeof MAKES)[number];

interface Way {
  name: (make: string) => string;
  start: 'cold' | 'pool';
  pool: NonNullable<RuntimeOptions['pool']>;
}

const WAYS: readonly Way[] = [
  { name: coldName, start: 'cold', pool: { size: 0 } },
  { name: poolName, start: 'pool', pool: { size: 2 } },
];

export interface ContainerBenchPlace {
  folder: string;
  /** A home that has the base image. */
  home: string;
  dockerSocket?: string | undefined;
}

export class ContainerVariants implements AsyncDisposable {
  readonly variants: Variant[] = [];
  readonly leftOut: string[] = [];
  readonly #runtimes: Runtime[] = [];

  static async open(place: ContainerBenchPlace): Promise<ContainerVariants> {
    const opened = new ContainerVariants();
    for (const make of MAKES) await opened.#add(make, place);
    return opened;
  }

  async #add(make: Make, place: ContainerBenchPlace): Promise<void> {
    for (const way of WAYS) {
      const { home, dockerSocket } = place;
      const container = { makes: [make], ...(dockerSocket === undefined ? {} : { dockerSocket }) };
      const runtime = createRuntime({
        home,
        container,
        pool: { idleMs: KEPT_MS, ...way.pool },
        caller: 'bench',
      });
      this.#runtimes.push(runtime);
      const refusal = await refusalOf(runtime);
      if (refusal !== undefined) {
        this.leftOut.push(`${make}: ${refusal}`);
        return;
      }
      await this.#addWay({ make, way, runtime }, place.folder);
    }
  }

  async #addWay({ make, way, runtime }: Prepared, folder: string): Promise<void> {
    const skill = await runtime.load(containerSkill(folder));
    const rest = (): Promise<void> => runtime.warm(skill);
    await rest();
    this.variants.push({ name: way.name(make), run: () => runOnce({ way, runtime }, skill), rest });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.close()));
  }
}

interface Prepared {
  make: Make;
  way: Way;
  runtime: Runtime;
}

async function refusalOf(runtime: Runtime): Promise<string | undefined> {
  const pair = (await runtime.doctor()).find(({ mode }) => mode === 'container');
  return pair?.available ? undefined : (pair?.summary ?? 'not part of this version');
}

/** The skill of the jail bench, run in the base image. */
function containerSkill(folder: string): string {
  const copy = join(folder, 'bench', 'echo_words');
  cpSync(ECHO_WORDS.dir, copy, { recursive: true });
  rmSync(join(copy, 'skill.lock'), { force: true });
  const file = join(copy, 'manifest.yaml');
  const section = `container: { image: localhost/skillcell-python }\n`;
  const text = readFileSync(file, 'utf8').replace(/^execution:.*$/m, 'execution: container');
  writeFileSync(file, text + section);
  return copy;
}

async function runOnce({ way, runtime }: Omit<Prepared, 'make'>, skill: Skill): Promise<Timing> {
  const began = performance.now();
  const outcome = await runtime.execute(skill, ECHO_WORDS.params);
  const ms = performance.now() - began;
  const start = outcome.execution?.start;
  if (start !== way.start) throw new Error(`Expected to measure "${way.start}", but the call got "${start}"`);
  return { ms, result: outcome.ok ? outcome.result : undefined };
}
