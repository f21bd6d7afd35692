/**
 * Attacks on the installer: expensive binaries, and malformed ones.
 *
 * @module
 */
import { group, type Draft, type WasmAttack } from '../attack.ts';
import { BOMBS } from '../bombs.ts';
import { listed, section } from '../bytes.ts';
import { MALFORMED } from '../malformed.ts';
import { builtProgram } from '../programs.ts';

const REFUSED = { codes: ['manifest_invalid'], namesByte: true } as const;
const ENGINE = { none: 'The engine also refuses it.' };
const SMALL = { limits: { cpu: '2s', memory: '64MiB' } };

function binary(make: (() => Uint8Array) | undefined): Draft {
  const bytes = (): Uint8Array => (make ? make() : new Uint8Array());
  return { binary: bytes, naive: () => ({ skill: bytes() }) };
}

const bomb = (name: string): Draft => binary(BOMBS[name]);

const bombs = group(
  {
    ...REFUSED,
    manifest: () => SMALL,
    control: { none: 'The engine determines how long compiling takes.' },
  },
  {
    huge_function: ['Has a function of 7 MB.', bomb('huge_function')],
    many_locals: ['Has a function with 20,000 local variables.', bomb('many_locals')],
    endless_locals: [
      'Declares more local variables than 32 bits can count.',
      { ...bomb('endless_locals'), control: ENGINE },
    ],
    locals_and_loops: [
      'Takes long to compile, within all caps.',
      {
        ...bomb('locals_and_loops'),
        codes: ['ok', 'skill_error', 'resource_exceeded'],
        limits: ['timeout', 'cpu', 'memory'],
        namesByte: false,
      },
    ],
    locals_and_more_loops: ['Has more loops than can be metered.', bomb('locals_and_more_loops')],
    nested_blocks: ['Has 100,000 nested loops.', bomb('nested_blocks')],
    many_functions: ['Has 100,000 functions.', bomb('many_functions')],
    many_memories: ['Has two memories, of which only one would be counted.', bomb('many_memories')],
    many_tables: ['Has 50 tables.', bomb('many_tables')],
    huge_table: ['Has a table of ten million entries.', { ...bomb('huge_table') }],
    huge_memory: [
      'Begins with a memory of 4 GB.',
      {
        ...bomb('huge_memory'),
        codes: ['resource_exceeded', 'skill_error'],
        limits: ['memory'],
        namesByte: false,
      },
    ],
    memory_of_64_bits: ['Has a 64-bit memory.', bomb('memory_of_64_bits')],
    shared_memory: ['Has a shared memory.', bomb('shared_memory')],
    data_outside_memory: [
      'Places data outside its memory.',
      { ...bomb('data_outside_memory'), codes: ['skill_error'], namesByte: false, control: ENGINE },
    ],
  },
);

const instances = (count: number, module: number): Uint8Array =>
  listed(2, ...Array.from({ length: count }, () => [0, module, 0]));

const crowds = group(
  {
    codes: ['resource_exceeded'],
    limits: ['memory'],
    manifest: () => SMALL,
    control: { none: 'A host without a linker creates one instance.' },
  },
  {
    many_instances: [
      'Creates 20,000 instances with a memory each.',
      { ...REFUSED, program: 'fail', component: { more: [instances(20_000, 0)] } },
    ],
    many_binaries: [
      'Has 60 binaries, each of which must be inspected.',
      { ...bomb('nothing'), codes: ['manifest_invalid'], copies: 60 },
    ],
    memory_in_many_instances: [
      'Spreads 2 GB over the memories of 40 instances.',
      { program: 'fail', component: { more: [section(1, builtProgram('hoard')), instances(40, 2)] } },
    ],
  },
);

const broken = group(
  { ...REFUSED, control: { none: 'It is not a program.' } },
  Object.fromEntries(
    Object.entries(MALFORMED).map(([name, make]) => [
      name,
      [`A broken binary: ${name.replaceAll('_', ' ')}.`, binary(make)] as const,
    ]),
  ),
);

export const BINARY_ATTACKS: readonly WasmAttack[] = [...bombs, ...crowds, ...broken];
