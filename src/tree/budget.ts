/**
 * What a whole tree of calls may use, drawn from its root. A call that runs keeps its own limits; a new one is refused as
 * soon as the tree has used up any of this, so a tree exceeds it by at most what its running calls may use.
 *
 * @module
 */
import { MAX_DEPTH } from '../cell/pool/gate.ts';
import { SkillError } from '../errors.ts';
import { formatDuration, formatSize } from '../manifest/units.ts';
import type { Usage } from '../outcome.ts';

/** Durations in milliseconds, sizes in bytes. */
export interface TreeLimits {
  /** Calls inside, at all depths. */
  calls: number;
  /** Calls above a call. */
  depth: number;
  /** CPU time of all calls inside. */
  cpu: number;
  /** Results and logs of all calls inside. */
  output: number;
  /** Parameters and results that are passed between calls. */
  bridge: number;
}

const DEFAULT_TREE_LIMITS: TreeLimits = {
  calls: 1000,
  depth: MAX_DEPTH,
  cpu: 120_000,
  output: 16 * 1024 * 1024,
  bridge: 64 * 1024 * 1024,
};

export class Budget {
  readonly limits: TreeLimits;
  #calls = 0;
  #cpu = 0;
  #output = 0;
  #bridge = 0;

  constructor(limits: Partial<TreeLimits> = {}) {
    const { depth = MAX_DEPTH, ...rest } = limits;
    this.limits = { ...DEFAULT_TREE_LIMITS, ...rest, depth: Math.min(depth, MAX_DEPTH) };
  }

  /** Number of calls inside so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Counts a call before it is made. Throws `resource_exceeded` if it may not be made. */
  take(depth: number, bytes: number): void {
    const { limits } = this;
    this.#bridge += bytes;
    if (depth > limits.depth) throw exceeded('depth', `at most ${limits.depth} calls above each other`);
    if (this.#calls >= limits.calls) throw exceeded('calls', `${limits.calls} calls`);
    this.assertLeft();
    this.#calls++;
  }

  /** Throws `resource_exceeded` if what calls used so far leaves nothing for one that starts now. */
  assertLeft(): void {
    const { limits } = this;
    if (this.#cpu >= limits.cpu) throw exceeded('cpu', `${formatDuration(limits.cpu)} of CPU time`);
    if (this.#output >= limits.output) throw exceeded('output', `${formatSize(limits.output)} of output`);
    this.#assertBridge();
  }

  /** Counts what a call used. */
  spend({ cpu_ms, output_bytes }: Usage): void {
    this.#cpu += cpu_ms;
    this.#output += output_bytes;
  }

  /** Counts a result before it is passed on. Throws `resource_exceeded` if it may not be. */
  pass(bytes: number): void {
    this.#bridge += bytes;
    this.#assertBridge();
  }

  #assertBridge(): void {
    const { bridge } = this.limits;
    if (this.#bridge > bridge) throw exceeded('bridge', `${formatSize(bridge)} passed between calls`);
  }
}

function exceeded(limit: keyof TreeLimits, amount: string): SkillError {
  return new SkillError('resource_exceeded', `The calls inside this call have used up their ${amount}`, {
    fix: 'Make fewer or smaller calls, or split the work over several calls.',
    detail: { limit },
  });
}
