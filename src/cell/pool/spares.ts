/**
 * Processes without a skill, kept for skills that have none. They exist while new processes are needed again and again, as
 * when more skills are in use than stay warm.
 *
 * @module
 */
import { unattended } from '../../errors.ts';
import { withoutFaultOwner } from '../../fault-owner.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellParts, CellProcess, UnboundStart, Wall } from '../contract.ts';
import { SpareProcess } from '../protocol/spare-process.ts';

/** A process that was needed this long ago no longer counts as demand. */
const DEMAND_MS = 60_000;
/** A start takes CPU time from the call that caused it, so it waits for a moment. */
const REFILL_MS = 20;

export interface SparesOptions {
  home: string;
  /** Maximum number of waiting processes that start alike. */
  most: number;
}

/** Processes that start alike. */
interface Kind {
  wall: Wall;
  unbound: UnboundStart;
  grant: Grant;
  waiting: SpareProcess[];
  /** When a process of this kind was needed; only as many as count. */
  needed: number[];
  timer?: NodeJS.Timeout;
}

export class Spares {
  readonly #options: SparesOptions;
  readonly #kinds = new Map<string, Kind>();
  #closed = false;

  constructor(options: SparesOptions) {
    this.#options = options;
  }

  /** A waiting process that is now the skill's; undefined if there is none. `process` is what the process may do. */
  take({ wall, artifact, grant }: CellParts, process: Grant): CellProcess | undefined {
    const { unbound } = artifact;
    if (!unbound || this.#closed || this.#options.most === 0) return undefined;
    const kind = this.#kindOf({ wall, unbound, grant: withoutSkill(process) });
    kind.needed = [...kind.needed, performance.now()].slice(-this.#options.most - 1);
    this.#lookIn(REFILL_MS, kind);
    const at = kind.waiting.findIndex(({ isWaiting }) => isWaiting);
    const spare = at < 0 ? undefined : kind.waiting.splice(at, 1)[0];
    try {
      return spare?.become((place) => unbound.fill(grant, place));
    } catch {
      // The disk may be full. Without it, the skill starts a process of its own.
      return undefined;
    }
  }

  /** Memory of all waiting processes. */
  get bytes(): number {
    const waiting = [...this.#kinds.values()].flatMap((kind) => kind.waiting);
    return waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  close(): void {
    this.#closed = true;
    for (const kind of this.#kinds.values()) retire(kind);
    this.#kinds.clear();
  }

  #kindOf(start: Pick<Kind, 'wall' | 'unbound' | 'grant'>): Kind {
    const name = nameOf(start);
    const kind = this.#kinds.get(name) ?? { ...start, waiting: [], needed: [] };
    this.#kinds.set(name, kind);
    return kind;
  }

  #lookIn(ms: number, kind: Kind): void {
    clearTimeout(kind.timer);
    kind.timer = setTimeout(() => withoutFaultOwner(() => this.#look(kind)), ms).unref();
  }

  /** One skill alone needs no spare. Without demand, waiting processes end. */
  #look(kind: Kind): void {
    const since = performance.now() - DEMAND_MS;
    kind.needed = kind.needed.filter((at) => at > since);
    kind.waiting = kind.waiting.filter(({ hasEnded }) => !hasEnded);
    const wanted = Math.max(0, kind.needed.length - 1);
    for (const surplus of kind.waiting.splice(wanted)) surplus.close();
    const name = [...this.#kinds].find(([, known]) => known === kind)?.[0];
    // What processes start from may have been replaced, and then no skill would get one of these.
    if (kind.needed.length === 0 || name !== nameOf(kind)) return this.#forget(name, kind);
    if (kind.waiting.length < wanted) return this.#start(kind);
    this.#lookIn(DEMAND_MS, kind);
  }

  #forget(name: string | undefined, kind: Kind): void {
    retire(kind);
    if (name !== undefined) this.#kinds.delete(name);
  }

  /** One at a time. After a failure it waits, because the cause may last. */
  #start(kind: Kind): void {
    const { wall, unbound, grant } = kind;
    const { home } = this.#options;
    const spare = SpareProcess.start({ home, wall, grant, spec: (place) => unbound.spec(grant, place) });
    if (!spare) return this.#lookIn(DEMAND_MS, kind);
    kind.waiting.push(spare);
    unattended(
      spare.ready.then((isReady) => {
        if (!this.#closed) this.#lookIn(isReady ? REFILL_MS : DEMAND_MS, kind);
      }),
    );
  }
}

function retire(kind: Kind): void {
  clearTimeout(kind.timer);
  for (const spare of kind.waiting.splice(0)) spare.close();
}

function nameOf({ wall, unbound, grant }: Pick<Kind, 'wall' | 'unbound' | 'grant'>): string {
  return JSON.stringify([wall.name, unbound.spec(grant, ''), grant]);
}

/** What a wall takes from the grant of a process that acts only through the broker. */
function withoutSkill({ syscalls, limits }: Grant): Grant {
  return { filesystem: [], network: [], env: {}, syscalls, limits, withheld: [] };
}
