/**
 * Attacks on the linker: lies in the canonical ABI, forged handles, undeclared imports.
 *
 * @module
 */
import { name } from '../../../src/for-attacks.ts';
import { group, type Draft, type WasmAttack } from '../attack.ts';
import { coreModule, join, listed, section, vec } from '../bytes.ts';
import { claim, CLOCK, LOG, POLL, RANDOM, STDOUT, STREAMS, STRING, U32, U64 } from '../interfaces.ts';

const JAVASCRIPT = { none: "JavaScript itself checks every access to the guest's memory." };
const NEEDS_LINKER = { none: 'A host without a linker has no such thing.' };

const lies = group(
  { codes: ['skill_error'], control: JAVASCRIPT, component: {} },
  {
    answer_outside_memory: 'Returns an answer at an address outside its memory.',
    answer_at_the_end: 'Returns an answer at the last bytes of its memory.',
    answer_misaligned: 'Returns an answer at a misaligned address.',
    answer_bad_case: 'Answers with neither a result nor an error.',
    answer_string_outside: 'Answers with a string outside its memory.',
    answer_string_too_long: 'Answers with a string longer than its memory.',
    answer_string_overflow: 'Answers with a string of 4 GB.',
    answer_string_wraps: 'Answers with a string that ends before it begins.',
    answer_string_null: 'Answers with an empty string at address 0.',
    answer_bad_utf8: 'Answers with bytes that are not valid UTF-8.',
    answer_overlong_utf8: 'Answers with a NUL encoded in two bytes.',
    answer_utf8_surrogate: 'Answers with a lone surrogate in UTF-8.',
    answer_utf16_surrogate: [
      'Answers with a lone surrogate in UTF-16.',
      { component: { encoding: 'utf16' } },
    ],
    answer_utf16_odd_address: [
      'Answers with UTF-16 at an odd address.',
      { component: { encoding: 'utf16' } },
    ],
    answer_utf16_overflow: [
      'Answers with 8 GB of UTF-16.',
      { program: 'answer_string_overflow', component: { encoding: 'utf16' } },
    ],
    answer_latin1_lie: [
      'Mixes its two encodings.',
      { codes: ['skill_error', 'ok'], component: { encoding: 'latin1+utf16' } },
    ],
    answer_latin1_overflow: [
      'Answers with 4 GB in two encodings.',
      { program: 'answer_string_overflow', component: { encoding: 'latin1+utf16' } },
    ],
    allocator_traps: [
      'Traps when the host requests memory.',
      { program: 'echo', component: { allocator: 'allocator_traps' } },
    ],
    allocator_points_outside: [
      'Returns memory to the host that it does not have.',
      { program: 'echo', component: { allocator: 'allocator_points_outside' } },
    ],
    allocator_points_to_the_end: [
      'Returns too little memory to the host.',
      { program: 'echo', component: { allocator: 'allocator_points_to_the_end' } },
    ],
    allocator_misaligns: [
      'Returns misaligned memory to the host.',
      { program: 'echo', component: { allocator: 'allocator_misaligns', encoding: 'utf16' } },
    ],
    call_in_realloc: [
      'Calls the host while the host requests memory.',
      { component: { allocator: 'allocator_calls_back', imports: [LOG] } },
    ],
    call_in_post_return: [
      'Calls the host during post-return.',
      { component: { imports: [LOG], postReturn: true } },
    ],
    log_bad_level: ['Passes an enum that does not exist.', { component: { imports: [LOG] } }],
    log_outside_memory: ['Passes a string outside its memory.', { component: { imports: [LOG] } }],
    random_to_outside: ['Has a result written outside its memory.', { component: { imports: [RANDOM] } }],
  },
);

const handles = group(
  { codes: ['skill_error'], control: NEEDS_LINKER, component: { imports: [POLL, CLOCK] } },
  {
    forge_handle: 'Uses a handle that it never received.',
    forge_negative_handle: 'Drops a handle that does not exist.',
    use_after_drop: 'Uses a handle after dropping it.',
    drop_twice: 'Drops a handle twice.',
    confuse_handles: [
      'Uses a stream where a pollable is expected.',
      { component: { imports: [POLL, CLOCK, STREAMS, STDOUT] } },
    ],
  },
);

/** Component imports without any used function. */
const imports = (iface: string, what = 'run'): Draft => ({
  program: 'succeed',
  component: { imports: [claim(iface, what, [], U32)] },
});

const undeclared = group(
  { codes: ['manifest_drift'], control: NEEDS_LINKER },
  {
    import_sockets: ['Imports sockets.', imports('wasi:sockets/tcp@0.2.0')],
    import_name_lookup: ['Imports the lookup of names.', imports('wasi:sockets/ip-name-lookup@0.2.0')],
    import_http: [
      'Imports HTTP without declaring network.',
      imports('wasi:http/outgoing-handler@0.2.0', 'handle'),
    ],
    import_files: ['Imports files without declaring any.', imports('wasi:filesystem/preopens@0.2.0')],
    import_unknown: [
      'Imports an interface that does not exist.',
      { ...imports('evil:host/files@1.0.0'), codes: ['skill_error'] },
    ],
    import_other_version: [
      'Imports a version that does not exist.',
      { ...imports('wasi:random/random@0.3.0'), codes: ['skill_error'] },
    ],
    import_unknown_function: [
      'Imports a function that its interface does not have.',
      { ...imports('wasi:random/random@0.2.0', 'eval'), codes: ['skill_error'] },
    ],
    import_method_of_objects: [
      'Imports a property that every JavaScript object has.',
      { ...imports('wasi:random/random@0.2.0', 'constructor'), codes: ['skill_error'] },
    ],
  },
);

const signatures = group(
  { codes: ['skill_error', 'manifest_invalid'], control: NEEDS_LINKER },
  {
    lie_about_random: [
      'Imports random numbers as a function of strings.',
      { component: { imports: [claim('wasi:random/random@0.2.0', 'get-random-u64', [STRING], STRING)] } },
    ],
    lie_about_environment: [
      'Imports the environment as a number.',
      { component: { imports: [claim('wasi:cli/environment@0.2.0', 'get-environment', [], U64)] } },
    ],
    lie_about_exit: [
      'Imports exit as a function of a string.',
      { component: { imports: [claim('wasi:cli/exit@0.2.0', 'exit', [STRING])] } },
    ],
    lie_about_handles: [
      'Imports a method as a function of a number, to pass any handle.',
      { component: { imports: [claim('wasi:io/poll@0.2.0', '[method]pollable.block', [U32])] } },
    ],
  },
);

/** Names that have a special meaning in JavaScript. */
const HOSTILE = [
  '__proto__',
  'constructor',
  'toString',
  'a"];process.exit(66);//',
  'a\nb',
  '${process}',
  '',
  '\u202e',
];

/** Instances and modules with such names. */
function hostileCoreNames(): Uint8Array[] {
  const types = listed(1, [0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f]);
  const importsOf = HOSTILE.map((one) => join(name('__proto__'), name(one), [0, 0]));
  const exportsOf = HOSTILE.map((one, index) => join(name(one), [0, index]));
  const module = coreModule(types, listed(2, ...importsOf), listed(7, ...exportsOf));
  const instance = join([1], vec(...HOSTILE.map((one) => join(name(one), [0, 0]))));
  return [
    section(1, module),
    listed(2, instance, join([0, 2], vec(join(name('__proto__'), [0x12, 3])))),
    listed(6, ...HOSTILE.map((one) => join([0, 0, 1, 4], name(one)))),
  ];
}

const importNamed = (what: string): Draft => ({
  program: 'succeed',
  component: { imports: [claim(what, 'run', [], U32)] },
});
const exportNamed = (what: string): Draft => ({
  program: 'succeed',
  component: { more: [listed(11, join([0], name(what), [1, 0, 0]))] },
});

const names = group(
  { codes: ['manifest_invalid'], control: NEEDS_LINKER, namesByte: true },
  {
    core_names_of_code: [
      'Names its parts like code and like prototype properties.',
      { codes: ['ok'], namesByte: false, program: 'fail', component: { more: hostileCoreNames() } },
    ],
    import_name_of_code: [
      'Imports a name that is code to a generator.',
      importNamed('a"];process.exit(66);//'),
    ],
    import_name_of_prototype: ['Imports the prototype of all objects.', importNamed('__proto__')],
    import_name_of_lines: ['Imports a name of two lines.', importNamed('a\nb')],
    import_name_of_pages: ['Imports a name of 100,000 letters.', importNamed('a'.repeat(100_000))],
    import_name_of_dashes: [
      'Imports a name that makes regular expressions slow.',
      importNamed(`${'a-'.repeat(500)}!`),
    ],
    export_name_of_code: [
      'Exports a name that is code to a generator.',
      exportNamed("x');process.exit(66);//"),
    ],
    export_name_of_prototype: ['Exports the prototype of all objects.', exportNamed('__proto__')],
    export_name_twice: ['Exports execute twice.', exportNamed('execute')],
  },
);

export const ABI_ATTACKS: readonly WasmAttack[] = [
  ...lies,
  ...handles,
  ...undeclared,
  ...signatures,
  ...names,
];
