/**
 * A flattened component: nested components are expanded, every name is resolved, and only a list of core instantiations
 * remains for each call.
 *
 * @module
 */

import type { CanonOptions, HostFunction, ModuleFacts, ModuleState } from '../contract.ts';
import type { ResourceType } from '../abi/resources.ts';
import type { FuncType } from '../abi/types.ts';

/** A compiled core module and what the rewriter added to it. */
export interface CoreModuleInput {
  module: WebAssembly.Module;
  facts: Pick<ModuleFacts, 'fuelExport' | 'startExport' | 'growthExport' | 'pagesExport' | 'state'> &
    Partial<Pick<ModuleFacts, 'budgetExport' | 'memoryExports' | 'memories' | 'tables'>>;
}

/** An export of a core instance. */
export interface CoreExport {
  instance: number;
  name: string;
}

/** A possible import of a core module: an export of another one, or a host function. */
export type CoreItem = CoreExport | { trampoline: number };

export interface CoreImport {
  module: string;
  name: string;
  item: CoreItem;
}

/** One core instantiation. */
export interface Step {
  module: WebAssembly.Module;
  imports: readonly CoreImport[];
  fuelExport: string;
  startExport: string | undefined;
  growthExport: string | undefined;
  pagesExport: string | undefined;
  budgetExport: string | undefined;
  /** Names of its own memories. */
  memoryExports: readonly string[];
  /** Initial sizes of its memories and tables, in pages and entries. */
  starts: { pages: number; entries: number };
  state: ModuleState | undefined;
}

/** The memory, allocator and handles used when values cross the boundary of a component instance. */
export interface ContextSpec {
  component: number;
  encoding: CanonOptions['encoding'];
  memory: CoreExport | undefined;
  realloc: CoreExport | undefined;
}

/** A core function lifted to a function of its component. */
export interface LiftSpec {
  component: number;
  context: number;
  core: CoreExport;
  postReturn: CoreExport | undefined;
  type: FuncType;
  /** Whether it can reach a host function that suspends; known once its component is complete. */
  suspends: boolean;
}

export interface HostTarget {
  interface: string;
  name: string;
  host: HostFunction;
}

/** A function that core modules import from us. */
export type TrampolineSpec =
  | { kind: 'host'; component: number; context: number; type: FuncType; target: HostTarget }
  | { kind: 'component'; component: number; context: number; type: FuncType; target: LiftSpec }
  | { kind: 'resource-new' | 'resource-rep' | 'resource-drop'; component: number; resource: ResourceType };

export interface LinkPlan {
  steps: Step[];
  trampolines: TrampolineSpec[];
  contexts: ContextSpec[];
  /** Number of component instances, including the outermost. */
  components: number;
  destructors: Map<ResourceType, CoreExport>;
}

export function suspends(spec: TrampolineSpec): boolean {
  if (spec.kind === 'host') return spec.target.host.suspends === true;
  return spec.kind === 'component' && spec.target.suspends;
}
