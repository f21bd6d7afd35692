/**
 * Calls across the boundary of a component: out to the host, over to another component, and in to a lifted function.
 *
 * @module
 */

import { GuestEnd, type HostValue } from '../contract.ts';
import type { AbiContext } from '../abi/context.ts';
import { wrongType, type CoreValue } from '../abi/flat.ts';
import { liftParams, liftResult } from '../abi/lift.ts';
import { lowerParams, lowerResult } from '../abi/lower.ts';
import { CallScope, dropHostResource, type ResourceType } from '../abi/resources.ts';
import type { FuncType } from '../abi/types.ts';
import { suspends, type LiftSpec, type TrampolineSpec } from './plan.ts';
import type { Running } from './running.ts';

type Spec<Kind extends TrampolineSpec['kind']> = Extract<TrampolineSpec, { kind: Kind }>;
type Lowered = Spec<'host'> | Spec<'component'>;
type Builtin = Exclude<TrampolineSpec, Lowered>;

export function makeTrampoline(running: Running, index: number): unknown {
  const spec = running.plan.trampolines[index];
  if (spec === undefined) throw new RangeError(`There is no trampoline ${index}`);
  if (spec.kind === 'host' || spec.kind === 'component') return makeLowered(running, spec);
  return (argument: unknown): number | undefined => {
    try {
      return callBuiltin(running, spec, argument);
    } catch (error) {
      throw running.end(error);
    }
  };
}

function makeLowered(running: Running, spec: Lowered): unknown {
  const call = (...args: unknown[]): unknown => {
    try {
      running.leave(spec.component);
      return spec.kind === 'host' ? callHost(running, spec, args) : callComponent(running, spec, args);
    } catch (error) {
      throw running.end(error);
    }
  };
  return suspends(spec) ? new WebAssembly.Suspending(call) : call;
}

function callHost(running: Running, spec: Spec<'host'>, args: unknown[]): unknown {
  running.countHostCall();
  const context = running.context(spec.context);
  const { host } = spec.target;
  const value = host.call(...liftParams(context, spec.type.params, args));
  if (!(value instanceof Promise)) return giveBack(context, spec.type, { value, args });
  if (host.suspends !== true)
    throw new GuestEnd('trap', `The host function "${spec.target.name}" must not suspend`);
  return whenSettled(running, value, (settled) => giveBack(context, spec.type, { value: settled, args }));
}

function callComponent(running: Running, spec: Spec<'component'>, args: unknown[]): unknown {
  const scope = new CallScope();
  const context = running.context(spec.context);
  context.scope = scope;
  const values = liftParams(context, spec.type.params, args);
  context.scope = undefined;
  const finish = (value: HostValue): unknown => {
    scope.end();
    return giveBack(context, spec.type, { value, args });
  };
  const value = callLifted(running, spec.target, { args: values, scope });
  return value instanceof Promise ? whenSettled(running, value, finish) : finish(value);
}

/** Returns a promise if and only if the function can be suspended. */
export function callLifted(
  running: Running,
  lift: LiftSpec,
  { args, scope }: { args: readonly HostValue[]; scope?: CallScope },
): HostValue {
  const border = running.border(lift.component);
  if (!border.mayEnter) throw new GuestEnd('trap', 'A component was called while it was running');
  border.mayEnter = false;
  const context = running.context(lift.context);
  context.scope = scope;
  const flat = lowerParams(context, lift.type.params, args);
  context.scope = undefined;
  const core = running.func(lift.core);
  const { turn } = running;
  const finish = (returned: unknown): HostValue => {
    assertTurn(running, turn);
    const value = liftResult(context, lift.type.result, returned);
    if (lift.postReturn !== undefined) callPostReturn(running, lift, returned);
    border.mayEnter = true;
    return value;
  };
  if (lift.suspends) return WebAssembly.promising(core)(...flat).then(finish);
  return finish(core(...flat));
}

function callPostReturn(running: Running, lift: LiftSpec, returned: unknown): void {
  const border = running.border(lift.component);
  const postReturn = lift.postReturn && running.func(lift.postReturn);
  border.mayLeave = false;
  if (returned === undefined) postReturn?.();
  else postReturn?.(returned);
  border.mayLeave = true;
}

/** The address for a result in memory comes after the parameters. */
function giveBack(
  context: AbiContext,
  type: FuncType,
  { value, args }: { value: HostValue; args: unknown[] },
): CoreValue | undefined {
  const params = type.params === undefined ? 0 : (type.params.flat?.length ?? 1);
  return lowerResult(context, type.result, { value, address: args[params] });
}

async function whenSettled(
  running: Running,
  promise: Promise<HostValue>,
  then: (value: HostValue) => unknown,
): Promise<unknown> {
  const { turn } = running;
  try {
    const value = await promise;
    assertTurn(running, turn);
    return then(value);
  } catch (error) {
    throw running.turn === turn ? running.end(error) : error;
  }
}

/** An answer to one call must never be written into another. */
function assertTurn(running: Running, turn: number): void {
  if (running.turn !== turn) throw new GuestEnd('trap', 'The call has ended');
}

function callBuiltin(running: Running, spec: Builtin, argument: unknown): number | undefined {
  if (typeof argument !== 'number') throw wrongType();
  const { handles } = running.border(spec.component);
  if (spec.kind === 'resource-rep') {
    const { rep } = handles.get(argument >>> 0, spec.resource);
    return typeof rep === 'number' ? rep : undefined;
  }
  running.leave(spec.component);
  if (spec.kind === 'resource-new') return handles.add(spec.resource, argument);
  const rep = handles.drop(argument >>> 0, spec.resource);
  if (typeof rep === 'number') destroy(running, spec, { resource: spec.resource, rep });
  else dropHostResource(rep);
  return undefined;
}

function destroy(
  running: Running,
  spec: Builtin,
  { resource, rep }: { resource: ResourceType; rep: number },
): void {
  const destructor = running.plan.destructors.get(resource);
  if (destructor === undefined || resource.owner === undefined) return;
  const owner = running.border(resource.owner);
  const own = resource.owner === spec.component;
  if (!own && !owner.mayEnter) throw new GuestEnd('trap', 'A component was called while it was running');
  const before = owner.mayEnter;
  owner.mayEnter = false;
  running.func(destructor)(rep);
  owner.mayEnter = before;
}
