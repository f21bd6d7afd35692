/**
 * Decides what a command may start: scripts of the bundle, modules of its packages, Python code of the caller, and
 * programs of the system, which the grant has to name. Everything else is refused. Pure.
 *
 * @module
 */
import { MAX_COMMAND_WORDS } from '../../manifest/skill-md.ts';
import { quote } from '../../manifest/quote.ts';
import type { Runner } from '../../vocabulary/commands.ts';
import type { GivenCommand, ParsedCommand } from './command.ts';
import { bundleFile, GUEST_SKILL, guestWord, workspaceFile, type CommandPlaces } from './places.ts';
import { freeShell, noSuchFile, notGranted, unknownOption, unusable } from './refusals.ts';
import { readShebang } from './shebang.ts';
import { sha256 } from '../../load/digest.ts';
import { PYTHON_STDLIB } from '../../load/python-stdlib.ts';

/** The kernel takes no longer word, and no more bytes in all words together. */
const MAX_WORD_BYTES = 128 * 1024 - 1;
const MAX_WORDS_BYTES = 512 * 1024;
/** The folder of a program that is named by its path. */
export const SYSTEM_FOLDER: RegExp = /^(?:\/usr)?(?:\/local)?\/bin\/(?=[^/]+$)/;
const PYTHON = /^python(?:3(?:\.\d+)?)?$/;
/** They change nothing here: output is never held back, and no bytecode or user folder is used. */
const PYTHON_OPTIONS = /^-[uBqEs]+$/;
const NODE_OPTIONS = /^--(?:no-warnings|experimental-strip-types|enable-source-maps)$/;
const SHELL_OPTIONS = /^-[euxv]+$/;
const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'dash']);
const MODULE_NAME = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
const PROGRAM_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/;

export interface CommandContext extends CommandPlaces {
  /** The first bytes of a file of the bundle. */
  headOf: (path: string) => string;
  /** Whether code that comes with the call may run. */
  allowsGenerated: boolean;
}

/** Throws `invalid_params` or `capability_denied`. */
export function parseCommand(given: GivenCommand, context: CommandContext): ParsedCommand {
  assertWords(given.words);
  const [first = '', ...rest] = withoutEnv(given.words);
  const program = first.replace(SYSTEM_FOLDER, '');
  if (PYTHON.test(program)) return python(rest, given, context);
  if (program === 'node') return node(rest, context);
  if (SHELLS.has(program)) return shell(program, rest, context);
  const file = first.includes('/') ? bundleFile(first, context) : undefined;
  if (file !== undefined) return executable(file, rest, { given, context });
  if (first.includes('/') && program === first) throw noSuchFile(first, context.files);
  if (!PROGRAM_NAME.test(program))
    throw unusable(
      `${quote(first)} is not the name of a program`,
      'Name a script of the skill or a program.',
    );
  return {
    runner: 'program',
    origin: 'system',
    start: { run: 'system', name: program },
    args: inGuest(rest, context),
  };
}

/** The arguments of the caller. Never what is added here, which names places of the cell already. */
function inGuest(args: readonly string[], places: CommandPlaces): readonly string[] {
  return args.map((word) => guestWord(word, places));
}

function assertWords(words: readonly string[]): void {
  if (words.length === 0 || words.length > MAX_COMMAND_WORDS)
    throw unusable(`A command has 1 to ${MAX_COMMAND_WORDS} words`, 'Pass the program and its arguments.');
  const sizes = words.map((word) => Buffer.byteLength(word));
  if (
    sizes.some((size) => size > MAX_WORD_BYTES) ||
    sizes.reduce((sum, size) => sum + size, 0) > MAX_WORDS_BYTES
  )
    throw unusable(
      'The command is too long for the kernel',
      'Pass long text as stdin, or as a file of the workspace.',
    );
  // No program can get such an argument: the kernel ends words at NUL, and half a character has no bytes.
  if (words.some((word) => word.includes('\0') || !word.isWellFormed()))
    throw unusable('A word of the command contains NUL or half a character', 'Pass plain text.');
}

/** `/usr/bin/env python3 x.py` means `python3 x.py`. Assignments and options of `env` do not reach a program. */
function withoutEnv(words: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words;
  if (first.replace(SYSTEM_FOLDER, '') !== 'env') return words;
  if (second === '' || second.startsWith('-') || second.includes('='))
    throw unusable(
      'The command sets variables or options with env',
      'Leave out env. Variables come from the grant.',
    );
  return words.slice(1);
}

function python(words: readonly string[], given: GivenCommand, context: CommandContext): ParsedCommand {
  const [word = '', ...rest] = skipOptions(words, PYTHON_OPTIONS);
  const args = inGuest(rest, context);
  if (word === '-m') return pythonModule(args, context);
  // Code is taken as it is.
  if (word === '-c') return generated('<string>', { source: rest[0] ?? '', args: args.slice(1) }, context);
  if (word === '-') return generated('<stdin>', { args, digest: given.stdinDigest }, context);
  if (word === '') throw freeShell('python');
  if (word.startsWith('-')) throw unknownOption('python', word);
  const file = bundleFile(word, context);
  if (file !== undefined) return fromBundle('python', file, args);
  const own = workspaceFile(word, context);
  if (own === undefined || !own.endsWith('.py')) throw noSuchFile(word, context.files);
  assertGenerated(context);
  return { runner: 'python', origin: 'generated', start: { run: 'workspace_file', path: own }, args };
}

function pythonModule([name = '', ...args]: readonly string[], { files }: CommandContext): ParsedCommand {
  if (!MODULE_NAME.test(name))
    throw unusable(
      `${quote(name)} is not the name of a Python module`,
      'Name a module: python -m package.module.',
    );
  // Python finds its own module of this name first, or has imported it already.
  if (PYTHON_STDLIB.has(name.split('.')[0] ?? ''))
    throw unusable(
      `${quote(name)} is the name of a module of Python itself`,
      'If the skill has such a file, name it: python FILE.',
      { module: name },
    );
  const path = name.replaceAll('.', '/');
  const isOwn = [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`].some((file) =>
    Object.hasOwn(files, file),
  );
  return { runner: 'python', origin: isOwn ? 'bundle' : 'package', start: { run: 'module', name }, args };
}

interface GeneratedCode {
  source?: string;
  args: readonly string[];
  digest?: string;
}

function generated(
  name: string,
  { source, args, digest }: GeneratedCode,
  context: CommandContext,
): ParsedCommand {
  assertGenerated(context);
  return {
    runner: 'python',
    origin: 'generated',
    start: { run: 'source', name, ...(source === undefined ? {} : { source }) },
    args,
    digest: digest ?? sha256(source ?? ''),
  };
}

function assertGenerated({ allowsGenerated }: CommandContext): void {
  if (allowsGenerated) return;
  throw notGranted(
    'run code that came with the call',
    'the operator policy switches generated code off',
    'Run a script of the skill, or have the operator remove "generated_code: false" from the policy.',
  );
}

function node(words: readonly string[], context: CommandContext): ParsedCommand {
  const [word = '', ...args] = skipOptions(words, NODE_OPTIONS);
  if (word === '' || word === '-') throw freeShell('node');
  if (word.startsWith('-')) throw unknownOption('node', word);
  const file = bundleFile(word, context);
  if (file === undefined) throw noSuchFile(word, context.files);
  return fromBundle('node', file, inGuest(args, context));
}

function shell(program: string, words: readonly string[], context: CommandContext): ParsedCommand {
  const rest = skipOptions(words, SHELL_OPTIONS);
  const options = words.slice(0, words.length - rest.length);
  const [word = '', ...args] = rest;
  if (word === '' || word === '-c' || word === '-') throw freeShell(program);
  if (word.startsWith('-')) throw unknownOption(program, word);
  const file = bundleFile(word, context);
  if (file === undefined) throw noSuchFile(word, context.files);
  return throughProgram(program, [...options, `${GUEST_SKILL}/${file}`, ...inGuest(args, context)]);
}

/** Staged files are not executable, so the interpreter of the first line is started with the file. */
function executable(
  file: string,
  args: readonly string[],
  { given, context }: { given: GivenCommand; context: CommandContext },
): ParsedCommand {
  const interpreter = readShebang(context.headOf(file));
  if (interpreter === undefined)
    throw unusable(
      `${quote(file)} cannot be started by its name: its first line names no interpreter of this version`,
      `Start it with its interpreter: python, bash or node, then ${quote(file)}.`,
      { file },
    );
  const words = [...interpreter, `${GUEST_SKILL}/${file}`, ...args];
  return parseCommand({ ...given, words }, context);
}

function fromBundle(runner: Runner, file: string, args: readonly string[]): ParsedCommand {
  return { runner, origin: 'bundle', start: { run: 'file', path: `${GUEST_SKILL}/${file}` }, args };
}

function throughProgram(program: string, args: readonly string[]): ParsedCommand {
  return {
    runner: 'program',
    origin: 'bundle',
    start: { run: 'program', path: `/usr/bin/${program}` },
    args,
  };
}

function skipOptions(words: readonly string[], harmless: RegExp): readonly string[] {
  const at = words.findIndex((word) => !harmless.test(word));
  return at === -1 ? [] : words.slice(at);
}
