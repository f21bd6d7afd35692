/**
 * Canonical definitions: core functions that become component functions, and vice versa.
 *
 * @module
 */

import type { Canon, CanonOptions } from '../contract.ts';
import { coreExportOf } from './core.ts';
import { LinkError } from './errors.ts';
import { suspends, type CoreExport, type LinkPlan, type TrampolineSpec } from './plan.ts';
import { at, type ComponentScope } from './scope.ts';
import { funcTypeAt, resourceAt } from './types.ts';

const MAX_TRAMPOLINES = 10_000;
const MAX_CONTEXTS = 256;

export function defineCanon(plan: LinkPlan, scope: ComponentScope, canon: Canon): void {
  if ('lift' in canon) {
    defineLift(plan, scope, canon.lift);
  } else if ('lower' in canon) {
    addTrampoline(plan, scope, lowered(plan, scope, canon.lower));
  } else if ('resourceNew' in canon) {
    const resource = ownResource(scope, canon.resourceNew);
    addTrampoline(plan, scope, { kind: 'resource-new', component: scope.id, resource });
  } else if ('resourceRep' in canon) {
    const resource = ownResource(scope, canon.resourceRep);
    addTrampoline(plan, scope, { kind: 'resource-rep', component: scope.id, resource });
  } else {
    const resource = resourceAt(scope, canon.resourceDrop);
    addTrampoline(plan, scope, { kind: 'resource-drop', component: scope.id, resource });
  }
}

function defineLift(
  plan: LinkPlan,
  scope: ComponentScope,
  { coreFunc, type: typeIndex, options }: Extract<Canon, { lift: unknown }>['lift'],
): void {
  const type = funcTypeAt(scope, typeIndex);
  const lift = {
    component: scope.id,
    context: contextFor(plan, scope, options),
    core: coreExportOf(at(scope.core.func, coreFunc, 'core function')),
    postReturn: optionalFunc(scope, options.postReturn),
    type,
    suspends: false,
  };
  scope.lifts.push(lift);
  scope.funcs.push({ type, lift });
}

function lowered(
  plan: LinkPlan,
  scope: ComponentScope,
  { func, options }: Extract<Canon, { lower: unknown }>['lower'],
): TrampolineSpec {
  const entity = at(scope.funcs, func, 'function');
  const common = { component: scope.id, context: contextFor(plan, scope, options), type: entity.type };
  if ('host' in entity) return { kind: 'host', ...common, target: entity.host };
  return { kind: 'component', ...common, target: entity.lift };
}

function addTrampoline(plan: LinkPlan, scope: ComponentScope, spec: TrampolineSpec): void {
  if (plan.trampolines.length >= MAX_TRAMPOLINES) throw new LinkError('Too many imported functions');
  scope.suspends ||= suspends(spec);
  scope.core.func.push({ trampoline: plan.trampolines.length });
  plan.trampolines.push(spec);
}

/** Only the component that defines a resource may create one or look into it. */
function ownResource(scope: ComponentScope, index: number): ReturnType<typeof resourceAt> {
  const resource = resourceAt(scope, index);
  if (resource.owner !== scope.id) throw new LinkError(`"${resource.name}" is defined by another component`);
  return resource;
}

/** Most functions of a component share one context. */
function contextFor(plan: LinkPlan, scope: ComponentScope, options: CanonOptions): number {
  const memory =
    options.memory === undefined ? undefined : coreExportOf(at(scope.core.memory, options.memory, 'memory'));
  const realloc = optionalFunc(scope, options.realloc);
  const { encoding } = options;
  const known = plan.contexts.findIndex(
    (one) =>
      one.component === scope.id &&
      one.encoding === encoding &&
      sameExport(one.memory, memory) &&
      sameExport(one.realloc, realloc),
  );
  if (known !== -1) return known;
  if (plan.contexts.length >= MAX_CONTEXTS) throw new LinkError('Too many memories and allocators');
  return plan.contexts.push({ component: scope.id, encoding, memory, realloc }) - 1;
}

function optionalFunc(scope: ComponentScope, index: number | undefined): CoreExport | undefined {
  return index === undefined ? undefined : coreExportOf(at(scope.core.func, index, 'core function'));
}

function sameExport(left: CoreExport | undefined, right: CoreExport | undefined): boolean {
  return left?.instance === right?.instance && left?.name === right?.name;
}
