/**
 * Index spaces of a component while its definitions are processed in order.
 *
 * @module
 */

import type { Component, CoreSort, Declaration } from '../contract.ts';
import type { ResourceType } from '../abi/resources.ts';
import type { AbiType, FuncType } from '../abi/types.ts';
import { LinkError } from './errors.ts';
import type { CoreItem, HostTarget, LiftSpec } from './plan.ts';

export type TypeEntity =
  | { kind: 'value'; type: AbiType }
  | { kind: 'resource'; resource: ResourceType }
  | { kind: 'func'; type: FuncType }
  | { kind: 'instance'; declarations: readonly Declaration[]; scope: TypeScope }
  /** Never inspected: the component itself is instantiated, not its type. */
  | { kind: 'component' };

export type FuncEntity = { type: FuncType } & ({ host: HostTarget } | { lift: LiftSpec });

/** A component and the scope that its outer aliases refer to. */
export interface ComponentEntity {
  component: Component;
  scope: ComponentScope;
}

export type Entity =
  | { sort: 'func'; value: FuncEntity }
  | { sort: 'type'; value: TypeEntity }
  | { sort: 'instance'; value: InstanceEntity }
  | { sort: 'component'; value: ComponentEntity }
  | { sort: 'module'; value: number };

export type InstanceEntity = ReadonlyMap<string, Entity>;

export interface NamedCoreItem {
  sort: CoreSort;
  item: CoreItem;
}
export type CoreInstanceEntity = ReadonlyMap<string, NamedCoreItem>;

/** Where type indices are resolved: a component, or an instance type. */
export interface TypeScope {
  readonly types: TypeEntity[];
  readonly parent: TypeScope | undefined;
}

export class ComponentScope implements TypeScope {
  /** Number of this component instance. */
  readonly id: number;
  readonly parent: ComponentScope | undefined;
  readonly modules: number[] = [];
  readonly coreInstances: CoreInstanceEntity[] = [];
  readonly core: Record<'func' | 'table' | 'memory' | 'global', CoreItem[]> = {
    func: [],
    table: [],
    memory: [],
    global: [],
  };
  readonly types: TypeEntity[] = [];
  readonly funcs: FuncEntity[] = [];
  readonly lifts: LiftSpec[] = [];
  readonly instances: InstanceEntity[] = [];
  readonly components: ComponentEntity[] = [];
  readonly exports: Map<string, Entity> = new Map();
  /** Whether one of its core functions can reach something that suspends. */
  suspends = false;

  constructor(id: number, parent: ComponentScope | undefined) {
    this.id = id;
    this.parent = parent;
  }
}

export function at<Item>(space: readonly Item[], index: number, what: string): Item {
  const item = space[index];
  if (item === undefined) throw new LinkError(`There is no ${what} ${index}`);
  return item;
}

export function outer<Scope extends { readonly parent: Scope | undefined }>(
  scope: Scope,
  count: number,
): Scope {
  let found: Scope | undefined = scope;
  for (let step = 0; step < count && found !== undefined; step += 1) found = found.parent;
  if (found === undefined) throw new LinkError(`There is no enclosing component ${count} levels up`);
  return found;
}

/** An export of an instance by name and sort. */
export function exported(instance: InstanceEntity, name: string, sort: Entity['sort']): Entity {
  const entity = instance.get(name);
  if (entity?.sort !== sort) throw new LinkError(`An instance does not export the ${sort} "${name}"`);
  return entity;
}
