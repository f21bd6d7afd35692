/**
 * The command line: parses, calls the runtime and prints. All rules are in the runtime.
 * Only results go to stdout, everything else to stderr. Loads nothing that `--help` does not need.
 *
 * @module
 */
import type { CommanderError } from 'commander';
import { SkillError, toSkillError } from '../errors.ts';
import type { HookAnswer } from '../vocabulary/hook-answers.ts';

const USAGE_EXIT = 2;

/** Runs one command line and returns its exit code. */
export async function main(argv: string[]): Promise<number> {
  // An agent waits for the hook before each of its commands.
  const hooked = argv[0] === 'hook' ? await runHook(argv.slice(1)) : undefined;
  if (hooked !== undefined) return hooked;
  let exitCode = 0;
  const json = wantsJson(argv);
  const { createProgram } = await import('./program.ts');
  const program = createProgram((code) => (exitCode = code), { quiet: json, first: argv[0] });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    const error = isFromCommander(thrown) ? usageError(thrown) : toSkillError(thrown);
    // --help and --version also throw.
    if (error === undefined) return 0;
    const { printError, printResult } = await import('./output.ts');
    if (json) printResult({ ok: false, error: error.toBody() });
    // Commander has already printed its own message.
    else if (!isFromCommander(thrown)) printError(error.toBody());
    return isFromCommander(thrown) ? USAGE_EXIT : error.exitCode;
  }
}

/** The hook without the tree of commands, which takes longer to load than the hook runs. Undefined for other options. */
async function runHook(args: readonly string[]): Promise<number | undefined> {
  const [, answer] = /^(?:--answer[= ](ask|rules|deny))?$/.exec(args.join(' ')) ?? [];
  if (args.length > 0 && answer === undefined) return undefined;
  const { hook } = await import('./commands/hook.ts');
  return hook(answer === undefined ? {} : { answer: answer as HookAnswer });
}

/** Also if the rest of the command line is wrong, because a program reads the answer. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

/** By name: a second copy of the library would have another class. */
function isFromCommander(thrown: unknown): thrown is CommanderError {
  return thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.');
}

function usageError({ exitCode, message, code }: CommanderError): SkillError | undefined {
  if (exitCode === 0) return undefined;
  // Commander's message for a missing subcommand is a placeholder; it prints the help instead.
  const text = code === 'commander.help' ? 'No command was given' : message.replace(/^error: /, '').trim();
  return new SkillError(
    'usage',
    `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll(/\s*\n\s*/g, ' '),
    {
      fix: 'Run the command with --help to see its arguments and options.',
    },
  );
}
