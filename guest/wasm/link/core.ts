/**
 * Core instances of a component: the module of each, and its imports by name.
 *
 * @module
 */

import type { AliasTarget, CoreInstanceExpr, CoreSort } from '../contract.ts';
import { LinkError } from './errors.ts';
import type { CoreExport, CoreImport, CoreItem, CoreModuleInput, LinkPlan } from './plan.ts';
import { at, type ComponentScope, type CoreInstanceEntity, type NamedCoreItem } from './scope.ts';

/** Also bounds how often the fuel budget can be spent before the sum is checked, because every core instance counts separately. */
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
  if (found?.sort !== sort)
    throw new LinkError(`Core instance ${instance} does not export the ${sort} "${name}"`);
  scope.core[itemSort(sort)].push(found.item);
}

/** For functions and memories that the ABI itself uses: they must be the guest's, never our own functions. */
export function coreExportOf(item: CoreItem): CoreExport {
  if ('trampoline' in item)
    throw new LinkError('A host function is used where the component must have its own');
  return item;
}

function instantiateModule(
  { modules, plan }: Workshop,
  scope: ComponentScope,
  { instantiate, args }: Extract<CoreInstanceExpr, { instantiate: number }>,
): CoreInstanceEntity {
  if (plan.steps.length >= MAX_CORE_INSTANCES) throw new LinkError('Too many core instances');
  const input = at(modules, at(scope.modules, instantiate, 'core module'), 'core module');
  const providers = new Map(
    args.map(({ name, instance }) => [name, at(scope.coreInstances, instance, 'core instance')]),
  );
  const instance = plan.steps.length;
  plan.steps.push({
    module: input.module,
    imports: resolveImports(input.module, providers),
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
  providers: ReadonlyMap<string, CoreInstanceEntity>,
): readonly CoreImport[] {
  return WebAssembly.Module.imports(module).map((wanted) => {
    const found = providers.get(wanted.module)?.get(wanted.name);
    if (found === undefined || found.sort !== sortOfKind(wanted.kind)) {
      throw new LinkError(
        `A core module imports "${wanted.name}" of "${wanted.module}", which is not provided`,
      );
    }
    return { module: wanted.module, name: wanted.name, item: found.item };
  });
}

/** Without the exports that the rewriter added: only the host uses those. */
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
  throw new LinkError(`Core instances cannot export ${sort} definitions`);
}
