/**
 * Core instances of a component: which module, and what it is given under which names.
 *
 * @module
 */

import type { AliasTarget, CoreInstanceExpr, CoreSort } from '../contract.ts';
import { LinkError } from './errors.ts';
import type { CoreExport, CoreImport, CoreItem, CoreModuleInput, LinkPlan } from './plan.ts';
import { at, type ComponentScope, type CoreInstanceEntity, type NamedCoreItem } from './scope.ts';

/** Also bounds how often a fuel budget can be spent before it is added up: every core instance counts by itself. */
const MAX_CORE_INSTANCES = 64;

interface Workshop {
  readonly modules: readonly CoreModuleInput[];
  readonly plan: LinkPlan;
}

type ItemSort = keyof ComponentScope['core'];

export function defineCoreInstance(
  workshop: Workshop,
  scope: ComponentScope,
  expr: CoreInstanceExpr,
): CoreInstanceEntity {
  if ('instantiate' in expr) return instantiateModule(workshop, scope, expr);
  return new Map(
    expr.exports.map(({ name, sort, index }) => {
      const item = at(scope.core[itemSort(sort)], index, `core ${sort}`);
      return [name, { sort, item }];
    }),
  );
}

export function aliasCoreExport(
  scope: ComponentScope,
  sort: CoreSort,
  { instance, name }: Extract<AliasTarget, { coreExport: unknown }>['coreExport'],
): void {
  const found = at(scope.coreInstances, instance, 'core instance').get(name);
  if (found?.sort !== sort) throw new LinkError(`Core instance ${instance} exports no ${sort} "${name}"`);
  scope.core[itemSort(sort)].push(found.item);
}

/** Where the ABI itself calls or reads: that must be code of the guest, not one of our own functions. */
export function coreExportOf(item: CoreItem): CoreExport {
  if ('trampoline' in item)
    throw new LinkError('A function of the host stands where the component must have its own');
  return item;
}

function instantiateModule(
  { modules, plan }: Workshop,
  scope: ComponentScope,
  { instantiate, args }: Extract<CoreInstanceExpr, { instantiate: number }>,
): CoreInstanceEntity {
  if (plan.steps.length >= MAX_CORE_INSTANCES) throw new LinkError('Too many core instances');
  const input = at(modules, at(scope.modules, instantiate, 'core module'), 'core module');
  const given = new Map(
    args.map(({ name, instance }) => [name, at(scope.coreInstances, instance, 'core instance')]),
  );
  const instance = plan.steps.length;
  plan.steps.push({
    module: input.module,
    imports: resolveImports(input.module, given),
    fuelExport: input.facts.fuelExport,
    startExport: input.facts.startExport,
    growthExport: input.facts.growthExport,
    pagesExport: input.facts.pagesExport,
    budgetExport: input.facts.budgetExport,
    memoryExports: input.facts.memoryExports ?? [],
    starts: { pages: sumOfStarts(input.facts.memories), entries: sumOfStarts(input.facts.tables) },
    state: input.facts.state,
  });
  return exportsOf(input, instance);
}

function sumOfStarts(limits: readonly { min: number }[] = []): number {
  return limits.reduce((sum, { min }) => sum + min, 0);
}

function resolveImports(
  module: WebAssembly.Module,
  given: ReadonlyMap<string, CoreInstanceEntity>,
): readonly CoreImport[] {
  return WebAssembly.Module.imports(module).map((wanted) => {
    const found = given.get(wanted.module)?.get(wanted.name);
    if (found === undefined || found.sort !== sortOfKind(wanted.kind)) {
      throw new LinkError(
        `A core module imports "${wanted.name}" of "${wanted.module}", which it is not given`,
      );
    }
    return { module: wanted.module, name: wanted.name, item: found.item };
  });
}

/** Without what the rewriter added: that is between the module and us. */
function exportsOf({ module, facts }: CoreModuleInput, instance: number): CoreInstanceEntity {
  const exports = new Map<string, NamedCoreItem>();
  const { fuelExport, startExport, growthExport, pagesExport, budgetExport, memoryExports, state } = facts;
  const ours = new Set([
    fuelExport,
    startExport,
    growthExport,
    pagesExport,
    budgetExport,
    ...(memoryExports ?? []),
    ...(state?.memories ?? []),
    ...(state?.globals ?? []),
  ]);
  for (const { name, kind } of WebAssembly.Module.exports(module)) {
    const sort = sortOfKind(kind);
    if (sort !== undefined && !ours.has(name)) exports.set(name, { sort, item: { instance, name } });
  }
  return exports;
}

function sortOfKind(kind: WebAssembly.ImportExportKind): ItemSort | undefined {
  if (kind === 'function') return 'func';
  return kind === 'tag' ? undefined : kind;
}

function itemSort(sort: CoreSort): ItemSort {
  if (sort === 'func' || sort === 'table' || sort === 'memory' || sort === 'global') return sort;
  throw new LinkError(`Core instances export no ${sort}`);
}
