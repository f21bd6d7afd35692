import { prepareComponent, type PreparedComponent } from '../../../guest/wasm/link/linker.ts';
import type { Outcome } from '../../../guest/wasm/link/outcome.ts';
import type { CallLimits } from '../../../guest/wasm/link/running.ts';
import type {
  Declaration,
  Definition,
  HostInterfaces,
  Primitive,
  ValType,
} from '../../../guest/wasm/contract.ts';
import { compile, GUEST_BASICS } from '../abi/support.ts';

export const LIMITS: CallLimits = {
  fuel: 1_000_000n,
  handles: 100,
  hostCalls: 1000,
  valueBytes: 1 << 20,
  transferBytes: 1 << 24,
  pages: 1024,
  tableEntries: 10_000,
};

export interface ImportedApi {
  name: string;
  declarations: Declaration[];
  /** Passed to the core module as `host` `<name>`. */
  functions?: string[];
  /** Resources whose drop function is passed to the core module as `host` `drop-<name>`. */
  drops?: string[];
}

export interface SkillParts {
  api?: ImportedApi;
  /** The core module: its imports from `host`, and its functions. */
  imports?: string;
  main: string;
  postReturn?: boolean;
  encoding?: 'utf8' | 'utf16' | 'latin1+utf16';
}

/** Returns its parameters. */
export const ECHO = `(func (export "execute") (param i32 i32) (result i32)
  (i32.store8 (i32.const 64) (i32.const 0))
  (i32.store (i32.const 68) (local.get 0))
  (i32.store (i32.const 72) (local.get 1))
  (i32.const 64))`;

export const core = (sort: 'func' | 'memory' | 'table', instance: number, name: string): Definition => ({
  kind: 'alias',
  sort: { core: sort },
  target: { coreExport: { instance, name } },
});

export const func = (params: ValType[], result?: ValType): Declaration => ({
  kind: 'type',
  type: {
    kind: 'func',
    params: params.map((type, index) => ({ name: `p${index}`, type })),
    ...(result !== undefined && { result }),
  },
});

export const exportFunc = (name: string, type: number): Declaration => ({
  kind: 'export',
  name,
  desc: { kind: 'func', type },
});

export const exportResource = (name: string): Declaration => ({
  kind: 'export',
  name,
  desc: { kind: 'type', bound: 'sub-resource' },
});

/** An interface with one function of primitive types. */
export function apiOf(name: string, params: ValType[], result?: Primitive): ImportedApi {
  return {
    name: 'test:host/api',
    declarations: [func(params, result), exportFunc(name, 0)],
    functions: [name],
  };
}

export function mainModule({ imports = '', main }: Pick<SkillParts, 'imports' | 'main'>): string {
  return `(module
    (import "env" "memory" (memory 1))
    (import "env" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
    ${imports}
    (global $fuel (export "fuel") (mut i64) (i64.const 0))
    ${main})`;
}

/** Types 0 and 1 are `result<string, string>` and the type of `execute`. */
export const EXECUTE_TYPES: Definition[] = [
  { kind: 'type', type: { kind: 'result', ok: 'string', err: 'string' } },
  { kind: 'type', type: { kind: 'func', params: [{ name: 'params', type: 'string' }], result: { type: 0 } } },
];

/** Module 0 has memory and allocator, module 1 everything else. */
export function skillDefinitions(parts: SkillParts): Definition[] {
  const { api, encoding = 'utf8' } = parts;
  const functions = api?.functions ?? [];
  const drops = api?.drops ?? [];
  const options = { encoding, memory: 0, realloc: 0 };
  const imported: Definition[] =
    api === undefined
      ? []
      : [
          { kind: 'type', type: { kind: 'instance', declarations: api.declarations } },
          { kind: 'import', name: api.name, desc: { kind: 'instance', type: 2 } },
          ...functions.map<Definition>((name) => ({
            kind: 'alias',
            sort: 'func',
            target: { export: { instance: 0, name } },
          })),
          ...drops.map<Definition>((name) => ({
            kind: 'alias',
            sort: 'type',
            target: { export: { instance: 0, name } },
          })),
          ...functions.map<Definition>((_, index) => ({
            kind: 'canon',
            canon: { lower: { func: index, options } },
          })),
          ...drops.map<Definition>((_, index) => ({ kind: 'canon', canon: { resourceDrop: 3 + index } })),
        ];
  const given = [...functions, ...drops.map((name) => `drop-${name}`)];
  return [
    ...EXECUTE_TYPES,
    { kind: 'core-module', module: 0 },
    { kind: 'core-module', module: 1 },
    { kind: 'core-instance', expr: { instantiate: 0, args: [] } },
    core('memory', 0, 'memory'),
    core('func', 0, 'cabi_realloc'),
    ...imported,
    {
      kind: 'core-instance',
      expr: { exports: given.map((name, index) => ({ name, sort: 'func', index: index + 1 })) },
    },
    {
      kind: 'core-instance',
      expr: {
        instantiate: 1,
        args: [
          { name: 'env', instance: 0 },
          { name: 'host', instance: 1 },
        ],
      },
    },
    core('func', 2, 'execute'),
    ...(parts.postReturn === true ? [core('func', 2, 'cabi_post_execute')] : []),
    {
      kind: 'canon',
      canon: {
        lift: {
          coreFunc: given.length + 1,
          type: 1,
          options: { ...options, ...(parts.postReturn === true && { postReturn: given.length + 2 }) },
        },
      },
    },
    { kind: 'export', name: 'execute', sort: 'func', index: functions.length },
  ];
}

export function prepare(
  definitions: Definition[],
  texts: string[],
  host: HostInterfaces = {},
): PreparedComponent {
  const modules = texts.map((text) => ({
    module: compile(text),
    facts: { fuelExport: 'fuel', ...(text.includes('(export "start")') && { startExport: 'start' }) },
  }));
  return prepareComponent({ component: { definitions }, modules, host });
}

export function prepareSkill(parts: SkillParts, host: HostInterfaces = {}): PreparedComponent {
  return prepare(skillDefinitions(parts), [`(module ${GUEST_BASICS})`, mainModule(parts)], host);
}

export async function execute(
  prepared: PreparedComponent,
  params: string,
  limits: Partial<CallLimits> = {},
): Promise<Outcome> {
  return prepared.instantiate({ ...LIMITS, ...limits }).callExecute(params);
}
