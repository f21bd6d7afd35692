/**
 * Finds the function that a call of a binary runs, and reports what is missing if there is none.
 *
 * @module
 */
import type { Plan, ValType } from '../contract.ts';
import type { ParsedComponent } from '../binary/component.ts';
import type { CoreModule } from '../binary/core-module.ts';
import { BinaryError } from '../binary/reader.ts';
import type { Item, TypeItem } from '../binary/scope.ts';
import { PREVIEW1_FUNCTIONS, PREVIEW1_MODULES } from './preview1.ts';

export type Entry = Pick<Plan, 'entry' | 'entryExport'>;

const EXECUTE = 'execute: func(params: string) -> result<string, string>';

/** A component exports `execute` of the world `skill`, or it is a command that exports `wasi:cli/run`. */
export function componentEntry(parsed: ParsedComponent): Entry {
  const execute = parsed.exports.get('execute');
  if (execute !== undefined) {
    if (!isExecute(execute))
      throw new BinaryError(`The component exports "execute", but not as "${EXECUTE}"`, 0);
    return { entry: 'execute', entryExport: 'execute' };
  }
  for (const [name, item] of parsed.exports) {
    if (!/^wasi:cli\/run(?:@0\.2(?:\.\d+)?)?$/u.test(name) || item.sort !== 'instance') continue;
    const run = item.exports?.get('run');
    if (run !== undefined && isRun(run)) return { entry: 'run', entryExport: name };
  }
  throw new BinaryError(`The component exports neither "${EXECUTE}" nor "wasi:cli/run"`, 0);
}

function isExecute(item: Item): boolean {
  const type = item.type;
  if (item.sort !== 'func' || type?.def.kind !== 'func') return false;
  const { params, result } = type.def;
  if (params.length !== 1 || !isString(params[0]?.type, type)) return false;
  const resultType = referred(result, type);
  if (resultType?.def.kind !== 'result') return false;
  return isString(resultType.def.ok, resultType) && isString(resultType.def.err, resultType);
}

function isRun(item: Item): boolean {
  const type = item.type;
  if (item.sort !== 'func' || type?.def.kind !== 'func' || type.def.params.length > 0) return false;
  const result = referred(type.def.result, type)?.def;
  return result?.kind === 'result' && result.ok === undefined && result.err === undefined;
}

function referred(value: ValType | undefined, holder: TypeItem): TypeItem | undefined {
  return typeof value === 'object' ? holder.space[value.type]?.type : undefined;
}

function isString(value: ValType | undefined, holder: TypeItem): boolean {
  if (value === 'string') return true;
  const def = referred(value, holder)?.def;
  return def?.kind === 'primitive' && def.primitive === 'string';
}

/** A core module can run by itself only as a WASI preview1 command. */
export function commandEntry(module: CoreModule): Entry {
  for (const item of module.imports) {
    if (item.kind === 'func' && PREVIEW1_MODULES.has(item.module) && PREVIEW1_FUNCTIONS.has(item.name))
      continue;
    throw new BinaryError(
      `The module imports ${item.kind} ${JSON.stringify(item.name)} of ${JSON.stringify(item.module)}, which is not WASI preview1`,
      item.offset,
    );
  }
  const start = module.exports.find((item) => item.name === '_start');
  const type = start?.kind === 'func' ? module.types[module.functionTypes[start.index] as number] : undefined;
  if (type === undefined || type.params.length + type.results.length > 0) {
    throw new BinaryError(
      'The module is not a component and does not export a function "_start" without parameters and results',
      module.start,
    );
  }
  if (!module.exports.some((item) => item.name === 'memory' && item.kind === 'memory')) {
    throw new BinaryError('The module does not export "memory", which WASI preview1 requires', module.start);
  }
  return { entry: '_start', entryExport: '_start' };
}
