/**
 * A component laid out flat: nested components are unfolded, every name is resolved, and what is left to do for each
 * call is a list of core instantiations.
 *
 * @module
 */

import type { CanonOptions, HostFunction, ModuleFacts, ModuleState } from '../contract.ts';
import type { ResourceType } from '../abi/resources.ts';
import type { FuncType } from '../abi/types.ts';

/** A compiled core module and what the rewriter put into it. */
export interface CoreModuleInput {
  module: WebAssembly.Module;
  facts: Pick<ModuleFacts, 'fuelExport' | 'startExport' | 'growthExport' | 'pagesExport' | 'state'> &
    Partial<Pick<ModuleFacts, 'budgetExport' | 'memoryExports' | 'memories' | 'tables'>>;
}

/** Something that a core instance exports. */
export interface CoreExport {
  instance: number;
  name: string;
}

/** What a core module can be given: an export of another one, or a function of ours. */
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
  /** Of its own memories. */
  memoryExports: readonly string[];
  /** What its memories and tables start with, in pages and entries. */
  starts: { pages: number; entries: number };
  state: ModuleState | undefined;
}

/** With which memory, allocator and handles values cross the border of a component instance. */
export interface ContextSpec {
  component: number;
  encoding: CanonOptions['encoding'];
  memory: CoreExport | undefined;
  realloc: CoreExport | undefined;
}

/** A core function as function of its component. */
export interface LiftSpec {
  component: number;
  context: number;
  core: CoreExport;
  postReturn: CoreExport | undefined;
  type: FuncType;
  /** Whether a function of the host that suspends can be reached from it; known when its component is complete. */
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
  /** Number of component instances, the outermost included. */
  components: number;
  destructors: Map<ResourceType, CoreExport>;
}

export function suspends(spec: TrampolineSpec): boolean {
  if (spec.kind === 'host') return spec.target.host.suspends === true;
  return spec.kind === 'component' && spec.target.suspends;
}
