/**
 * Links a component to the host: everything that does not depend on a call once per process, then a fresh instance per call.
 * No code is generated, and no name in the component becomes a property of an object with a prototype.
 *
 * @module
 */

import type { Component, HostInterfaces, HostValue } from '../contract.ts';
import type { AbiType, FuncType } from '../abi/types.ts';
import { callLifted, makeTrampoline } from './calls.ts';
import { LinkError } from './errors.ts';
import { indexHost, unversioned } from './host-imports.ts';
import type { Image } from '../imaged/image.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import type { CoreModuleInput, LiftSpec, LinkPlan } from './plan.ts';
import { prepareRoot } from './preparation.ts';
import { Running, type CallLimits, type Usage } from './running.ts';
import type { Entity, InstanceEntity } from './scope.ts';

export interface PrepareInput {
  component: Component;
  /** By the number that the component's definitions use. */
  modules: readonly CoreModuleInput[];
  host: HostInterfaces;
}

/** The functions that a call can start with. */
interface Entries {
  execute: LiftSpec | undefined;
  run: LiftSpec | undefined;
}

/** @throws LinkError, and nothing else. */
export function prepareComponent({ component, modules, host }: PrepareInput): PreparedComponent {
  const plan: LinkPlan = { steps: [], trampolines: [], contexts: [], components: 0, destructors: new Map() };
  try {
    const exports = prepareRoot({ modules, host: indexHost(host), plan, definitions: 0 }, component);
    return new PreparedComponent(plan, { execute: findExecute(exports), run: findRun(exports) });
  } catch (error) {
    // A type that is too large or an index out of range: the component is inconsistent.
    throw error instanceof LinkError ? error : new LinkError(String(error));
  }
}

export class PreparedComponent {
  readonly #plan: LinkPlan;
  readonly #entries: Entries;
  /** Image of the first instance; undefined if an instance cannot be reset. */
  #image: { taken: Image | undefined } | undefined;

  constructor(plan: LinkPlan, entries: Entries) {
    this.#plan = plan;
    this.#entries = entries;
  }

  /** Whether it has `execute` of the skill interface. */
  get canExecute(): boolean {
    return this.#entries.execute !== undefined;
  }

  /** Whether it is a `wasi:cli` command. */
  get canRun(): boolean {
    return this.#entries.run !== undefined;
  }

  /** Resets an instance that served its call under the same limits. False if something of the call would remain. */
  startOver(used: ComponentInstance): boolean {
    const image = this.#image?.taken;
    return image !== undefined && used.startOver(image);
  }

  /** Creates a new instance and runs the start functions; if they fail, the call on this instance reports why. */
  instantiate(limits: CallLimits): ComponentInstance {
    const running = new Running(this.#plan, limits);
    try {
      running.start(makeTrampoline);
    } catch (error) {
      running.end(error);
    }
    this.#image ??= { taken: running.takeImage() };
    return new ComponentInstance(running, this.#entries);
  }
}

/** Serves one call, and another one after a reset. */
export class ComponentInstance {
  readonly #running: Running;
  readonly #entries: Entries;
  #used = false;

  constructor(running: Running, entries: Entries) {
    this.#running = running;
    this.#entries = entries;
  }

  async callExecute(params: string): Promise<Outcome> {
    return this.#call(this.#entries.execute, [params]);
  }

  async run(): Promise<Outcome> {
    return this.#call(this.#entries.run, []);
  }

  /** For an instance that will not be called: releases what its start functions took. */
  discard(): void {
    this.#used = true;
    this.#running.close();
  }

  /** True if nothing is left of its call. */
  startOver(image: Image): boolean {
    this.#used = !this.#running.startOver(image);
    return !this.#used;
  }

  usage(): Usage {
    return this.#running.usage();
  }

  /** Size of the memories that are released with this instance. */
  get heldBytes(): number {
    return this.#running.heldBytes;
  }

  get isOverBudget(): boolean {
    return this.#running.isOverBudget;
  }

  get failedGrowth(): number {
    return this.#running.failedGrowth;
  }

  async #call(entry: LiftSpec | undefined, args: HostValue[]): Promise<Outcome> {
    if (entry === undefined) throw new LinkError('The component does not export this function');
    if (this.#used) throw new LinkError('The instance has already served a call');
    this.#used = true;
    const running = this.#running;
    let value: HostValue;
    try {
      if (running.failure === undefined) value = await callLifted(running, entry, { args });
    } catch (error) {
      running.end(error);
    }
    return this.#finish(value);
  }

  #finish(value: HostValue): Outcome {
    const running = this.#running;
    const fuelLeft = running.settleFuel();
    try {
      running.close();
    } catch (error) {
      running.end(error);
    }
    const failure = running.failure && outcomeOf(running.failure.error);
    // Running out of fuel looks like any trap, and may happen inside the guest's allocator.
    if (!fuelLeft && (failure === undefined || failure.kind === 'trap'))
      return { kind: 'limit', limit: 'fuel' };
    return failure ?? returned(value);
  }
}

function returned(value: HostValue): Outcome {
  const result = value as { ok?: string } | { err?: string };
  return 'err' in result
    ? { kind: 'err', value: result.err ?? '' }
    : { kind: 'ok', value: (result as { ok?: string }).ok ?? '' };
}

function findExecute(exports: InstanceEntity): LiftSpec | undefined {
  const fits = ({ params, result }: FuncType): boolean =>
    params?.fields.length === 1 && isString(params.fields[0]?.type) && isResult(result, isString);
  return entry(exports.get('execute'), 'execute: func(params: string) -> result<string, string>', fits);
}

function findRun(exports: InstanceEntity): LiftSpec | undefined {
  const fits = ({ params, result }: FuncType): boolean =>
    params === undefined && isResult(result, (type) => type === undefined);
  for (const [name, entity] of exports) {
    if (entity.sort === 'instance' && unversioned(name) === 'wasi:cli/run') {
      return entry(entity.value.get('run'), 'run: func() -> result', fits);
    }
  }
  return undefined;
}

function entry(
  found: Entity | undefined,
  wanted: string,
  fits: (type: FuncType) => boolean,
): LiftSpec | undefined {
  if (found?.sort !== 'func') return undefined;
  if (!('lift' in found.value) || !fits(found.value.type))
    throw new LinkError(`The component does not export "${wanted}"`);
  return found.value.lift;
}

function isString(type: AbiType | undefined): boolean {
  return type?.kind === 'string';
}

function isResult(type: AbiType | undefined, payload: (type: AbiType | undefined) => boolean): boolean {
  return type?.kind === 'result' && type.cases.every((one) => payload(one.type));
}
