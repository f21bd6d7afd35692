/**
 * Modules designed to be expensive, built byte by byte: as text they would be too large.
 *
 * @module
 */
import { name, u32 } from '../../src/for-attacks.ts';
import { coreModule, join, listed, section, vec, type Bytes } from './bytes.ts';

const [END, NOP, I32, I64, LOOP, VOID] = [0x0b, 0x01, 0x7f, 0x7e, 0x03, 0x40] as const;
const ONE_PAGE = [0, 1];
const FUNCREF = 0x70;

interface CommandParts {
  body?: Bytes;
  /** Groups of a count and a type. */
  locals?: readonly (readonly [number, number])[];
  memories?: readonly Bytes[];
  tables?: readonly Bytes[];
  functions?: number;
  data?: Bytes;
}

/** A command without imports: `_start` has the given body. */
export function command(parts: CommandParts): Uint8Array {
  const { body = [], locals = [], memories = [ONE_PAGE], tables = [], functions = 1, data } = parts;
  const groups = vec(...locals.map(([count, type]) => join(u32(count), [type])));
  const code = join(groups, body, [END]);
  return coreModule(
    listed(1, [0x60, 0, 0]),
    section(3, join(u32(functions), Buffer.alloc(functions))),
    ...(tables.length > 0 ? [listed(4, ...tables)] : []),
    listed(5, ...memories),
    listed(7, join(name('memory'), [2, 0]), join(name('_start'), [0, 0])),
    section(10, join(u32(functions), u32(code.length), code, repeat([2, 0, END], functions - 1))),
    ...(data ? [listed(11, data)] : []),
  );
}

function repeat(bytes: readonly number[], times: number): Uint8Array {
  return Buffer.alloc(bytes.length * times, Uint8Array.from(bytes));
}

/** By name: modules that are compiled, instantiated or refused. */
export const BOMBS: Readonly<Record<string, () => Uint8Array>> = {
  nothing: () => command({}),
  huge_function: () => command({ body: repeat([NOP], 7_000_000) }),
  many_locals: () => command({ locals: [[20_000, I64]], body: repeat([LOOP, VOID, END], 2000) }),
  endless_locals: () => command({ locals: Array.from({ length: 8 }, () => [0xffffffff, I32] as const) }),
  locals_and_loops: () => command({ locals: [[5000, I64]], body: repeat([LOOP, VOID, END], 100_000) }),
  locals_and_more_loops: () => command({ locals: [[5000, I64]], body: repeat([LOOP, VOID, END], 349_000) }),
  nested_blocks: () => command({ body: join(repeat([LOOP, VOID], 100_000), repeat([END], 100_000)) }),
  many_functions: () => command({ functions: 100_000 }),
  many_memories: () => command({ memories: [ONE_PAGE, ONE_PAGE] }),
  many_tables: () => command({ tables: Array.from({ length: 50 }, () => [FUNCREF, 0, 1]) }),
  huge_table: () => command({ tables: [[FUNCREF, 0, ...u32(10_000_000)]] }),
  huge_memory: () => command({ memories: [[0, ...u32(65_536)]] }),
  memory_of_64_bits: () => command({ memories: [[4, 1]] }),
  shared_memory: () => command({ memories: [[3, 1, 2]] }),
  data_outside_memory: () => command({ data: join([0, 0x41, 0xff, 0xff, 0xff, 0x07, END], name('planted')) }),
};
