/**
 * Walks the definitions of a component, and of those it instantiates, and records what each call must do.
 *
 * @module
 */

import type { AliasTarget, Component, Definition, ExternDesc, InstanceExpr, Sort } from '../contract.ts';
import { defineCanon } from './canon.ts';
import { aliasCoreExport, coreExportOf, defineCoreInstance } from './core.ts';
import { LinkError } from './errors.ts';
import { importedType, importInterface, type HostIndex } from './host-imports.ts';
import type { CoreModuleInput, LinkPlan } from './plan.ts';
import { at, ComponentScope, exported, outer, type Entity, type InstanceEntity } from './scope.ts';
import { resolveType } from './types.ts';

/** Components can instantiate each other, so a short file can request a lot. */
const MAX_COMPONENT_INSTANCES = 256;
const MAX_DEFINITIONS = 200_000;

/** State of the preparation. */
export interface Preparation {
  readonly modules: readonly CoreModuleInput[];
  readonly host: HostIndex;
  readonly plan: LinkPlan;
  definitions: number;
}

/** Where imports come from: the host, or the instantiating component. */
type Arguments = InstanceEntity | 'host';

export function prepareRoot(preparation: Preparation, component: Component): InstanceEntity {
  return instantiate(preparation, { component, parent: undefined, args: 'host' });
}

interface Instantiation {
  component: Component;
  parent: ComponentScope | undefined;
  args: Arguments;
}

function instantiate(preparation: Preparation, { component, parent, args }: Instantiation): InstanceEntity {
  const { plan } = preparation;
  if (plan.components >= MAX_COMPONENT_INSTANCES) throw new LinkError('Too many component instances');
  const scope = new ComponentScope(plan.components, parent);
  plan.components += 1;
  for (const definition of component.definitions) {
    preparation.definitions += 1;
    if (preparation.definitions > MAX_DEFINITIONS) throw new LinkError('Too many definitions');
    define(preparation, { scope, args }, definition);
  }
  for (const lift of scope.lifts) lift.suspends = scope.suspends;
  return scope.exports;
}

interface Place {
  scope: ComponentScope;
  args: Arguments;
}

function define(preparation: Preparation, { scope, args }: Place, definition: Definition): void {
  switch (definition.kind) {
    case 'core-module':
      scope.modules.push(definition.module);
      return;
    case 'core-instance':
      scope.coreInstances.push(defineCoreInstance(preparation, scope, definition.expr));
      return;
    case 'core-type':
      return;
    case 'component':
      scope.components.push({ component: definition.component, scope });
      return;
    case 'instance':
      scope.instances.push(defineInstance(preparation, scope, definition.expr));
      return;
    case 'alias':
      defineAlias(scope, definition.sort, definition.target);
      return;
    case 'type':
      defineType(preparation, scope, definition);
      return;
    case 'canon':
      defineCanon(preparation.plan, scope, definition.canon);
      return;
    case 'import':
      add(scope, importEntity(preparation, { scope, args }, definition));
      return;
    case 'export': {
      const entity = lookUp(scope, definition.sort, definition.index);
      scope.exports.set(definition.name, entity);
      add(scope, entity);
    }
  }
}

function defineType(
  { plan }: Preparation,
  scope: ComponentScope,
  { type }: Extract<Definition, { kind: 'type' }>,
): void {
  if (type.kind !== 'resource') {
    scope.types.push(resolveType(scope, type));
    return;
  }
  const resource = { name: `resource ${scope.types.length}`, owner: scope.id };
  if (type.destructor !== undefined) {
    plan.destructors.set(resource, coreExportOf(at(scope.core.func, type.destructor, 'core function')));
  }
  scope.types.push({ kind: 'resource', resource });
}

function defineInstance(preparation: Preparation, scope: ComponentScope, expr: InstanceExpr): InstanceEntity {
  if ('exports' in expr) {
    return new Map(expr.exports.map(({ name, sort, index }) => [name, lookUp(scope, sort, index)]));
  }
  const { component, scope: parent } = at(scope.components, expr.instantiate, 'component');
  const args = new Map(expr.args.map(({ name, sort, index }) => [name, lookUp(scope, sort, index)]));
  return instantiate(preparation, { component, parent, args });
}

function importEntity(
  preparation: Preparation,
  { scope, args }: Place,
  { name, desc }: Extract<Definition, { kind: 'import' }>,
): Entity {
  if (args !== 'host') return exported(args, name, sortOf(desc));
  if (desc.kind === 'instance') {
    return {
      sort: 'instance',
      value: importInterface(preparation.host, name, at(scope.types, desc.type, 'type')),
    };
  }
  if (desc.kind === 'type') return { sort: 'type', value: importedType(scope, desc.bound, name) };
  throw new LinkError(`The component imports the ${desc.kind} "${name}", which the host does not have`, {
    interface: name,
  });
}

function sortOf(desc: ExternDesc): Entity['sort'] {
  if (desc.kind === 'core-module') return 'module';
  if (desc.kind === 'value') throw new LinkError('Values cannot be imported');
  return desc.kind;
}

function defineAlias(scope: ComponentScope, sort: Sort, target: AliasTarget): void {
  if ('coreExport' in target) {
    if (typeof sort !== 'object') throw new LinkError(`A core instance cannot export ${sort} definitions`);
    aliasCoreExport(scope, sort.core, target.coreExport);
  } else if ('export' in target) {
    const instance = at(scope.instances, target.export.instance, 'instance');
    add(scope, exported(instance, target.export.name, entitySort(sort)));
  } else if (typeof sort !== 'object' || sort.core !== 'type') {
    add(scope, lookUp(outer<ComponentScope>(scope, target.outer.count), sort, target.outer.index));
  }
}

function entitySort(sort: Sort): Entity['sort'] {
  if (typeof sort === 'object') {
    if (sort.core === 'module') return 'module';
    throw new LinkError(`A component cannot pass on a core ${sort.core}`);
  }
  if (sort === 'value') throw new LinkError('Values cannot be passed on');
  return sort;
}

function lookUp(scope: ComponentScope, sort: Sort, index: number): Entity {
  const wanted = entitySort(sort);
  switch (wanted) {
    case 'func':
      return { sort: wanted, value: at(scope.funcs, index, 'function') };
    case 'type':
      return { sort: wanted, value: at(scope.types, index, 'type') };
    case 'instance':
      return { sort: wanted, value: at(scope.instances, index, 'instance') };
    case 'component':
      return { sort: wanted, value: at(scope.components, index, 'component') };
    default:
      return { sort: wanted, value: at(scope.modules, index, 'core module') };
  }
}

/** Every definition, import or export takes the next index of its sort. */
function add(scope: ComponentScope, entity: Entity): void {
  switch (entity.sort) {
    case 'func':
      scope.funcs.push(entity.value);
      return;
    case 'type':
      scope.types.push(entity.value);
      return;
    case 'instance':
      scope.instances.push(entity.value);
      return;
    case 'component':
      scope.components.push(entity.value);
      return;
    case 'module':
      scope.modules.push(entity.value);
  }
}
