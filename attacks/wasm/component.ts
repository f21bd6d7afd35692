/**
 * Puts two core modules, an allocator and the attack itself, into a component with the interface of a skill.
 *
 * @module
 */
import { name, u32 } from '../../src/for-attacks.ts';
import { component, join, listed, section, vec, type Bytes } from './bytes.ts';
import type { Interface } from './interfaces.ts';

export interface SkillParts {
  /** Exports `memory` and `cabi_realloc`, and imports nothing. */
  allocator: Uint8Array;
  /** Exports `execute`; imports `env` (the exports of the allocator) and `host`. */
  main: Uint8Array;
  /** A module with its own memory and table, whose exports the attack imports as `helper`. */
  helper?: Uint8Array;
  imports?: readonly Interface[];
  encoding?: 'utf8' | 'utf16' | 'latin1+utf16';
  /** The attack exports `cabi_post_execute`. */
  postReturn?: boolean;
  /** Sections to add before the end. */
  more?: readonly Bytes[];
  /** Builds a command instead: the attack's `execute` takes nothing and becomes `run` of `wasi:cli/run`. */
  isCommand?: boolean;
}

const ENCODINGS = { utf8: 0, utf16: 1, 'latin1+utf16': 2 } as const;
const [FUNC, TYPE, INSTANCE] = [1, 3, 5];
const CORE_FUNC = [0, 0];
const CORE_MEMORY = [0, 2];
/** 0 = result<string, string>, 1 = func(params: string) -> 0. */
const EXECUTE_TYPES = listed(
  7,
  [0x6a, 1, 0x73, 1, 0x73],
  join([0x40], vec(join(name('params'), [0x73])), [0, 0]),
);

/** 0 = result, 1 = func() -> 0. */
const RUN_TYPES = listed(7, [0x6a, 0, 0], [0x40, 0, 0, 0]);

export function skillComponent(parts: SkillParts): Uint8Array {
  const imports = parts.imports ?? [];
  const functions = imports.flatMap((one) => one.functions);
  const resources = imports.flatMap((one) => one.resources ?? []);
  const given = [...functions, ...resources.map((resource) => `drop-${resource}`)];
  const options = [ENCODINGS[parts.encoding ?? 'utf8'], 3, 0, 4, 0];
  const lift = parts.postReturn ? [4, ...options, 5, ...u32(given.length + 2)] : [3, ...options];
  const { sections, types } = importSections(imports);
  const isCommand = parts.isCommand === true;
  const { helper } = parts;
  // Core instances: the allocator, the helper if there is one, the functions of the host, the attack.
  const host = helper ? 2 : 1;
  const args = [join(name('env'), [0x12, 0]), join(name('host'), [0x12, host])];
  if (helper) args.push(join(name('helper'), [0x12, 1]));
  return component(
    isCommand ? RUN_TYPES : EXECUTE_TYPES,
    ...sections,
    section(1, parts.allocator),
    section(1, parts.main),
    ...(helper ? [section(1, helper), listed(2, [0, 0, 0], [0, 2, 0])] : [listed(2, [0, 0, 0])]),
    listed(6, coreAlias(CORE_MEMORY, 0, 'memory'), coreAlias(CORE_FUNC, 0, 'cabi_realloc')),
    listed(
      8,
      ...functions.map((_, index) => [1, 0, ...u32(index), 3, ...options]),
      ...resources.map((resource) => join([3], u32(types.get(resource) ?? 0))),
    ),
    listed(
      2,
      join([1], vec(...given.map((one, index) => join(name(one), [0], u32(index + 1))))),
      join([0, 1], vec(...args)),
    ),
    listed(
      6,
      coreAlias(CORE_FUNC, host + 1, 'execute'),
      ...(parts.postReturn ? [coreAlias(CORE_FUNC, host + 1, 'cabi_post_execute')] : []),
    ),
    listed(8, [0, 0, ...u32(given.length + 1), ...lift, 1]),
    ...(parts.more ?? []),
    ...(isCommand
      ? runExport(functions.length, imports.length)
      : [listed(11, join([0], name('execute'), [FUNC], u32(functions.length), [0]))]),
  );
}

function runExport(func: number, instance: number): Bytes[] {
  return [
    listed(5, join([1], vec(join([0], name('run'), [FUNC], u32(func))))),
    listed(11, join([0], name('wasi:cli/run@0.2.0'), [INSTANCE], u32(instance), [0])),
  ];
}

/** The imported instances, and the types of their resources: later interfaces refer to those of earlier ones. */
function importSections(imports: readonly Interface[]): { sections: Bytes[]; types: Map<string, number> } {
  const types = new Map<string, number>();
  const sections: Bytes[] = [];
  let nextType = 2;
  for (const [instance, one] of imports.entries()) {
    sections.push(
      listed(
        7,
        one.type((resource) => types.get(resource) ?? 0),
      ),
      listed(10, join([0], name(one.name), [INSTANCE], u32(nextType++))),
    );
    for (const resource of one.resources ?? []) {
      sections.push(listed(6, alias(TYPE, instance, resource)));
      types.set(resource, nextType++);
    }
    for (const func of one.functions) sections.push(listed(6, alias(FUNC, instance, func)));
  }
  return { sections, types };
}

function alias(sort: number, instance: number, what: string): Bytes {
  return join([sort, 0], u32(instance), name(what));
}

function coreAlias(sort: readonly number[], instance: number, what: string): Bytes {
  return join(sort, [1], u32(instance), name(what));
}
