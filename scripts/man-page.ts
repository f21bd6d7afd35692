/**
 * Writes `man/skillcell.1` from the tree of commands.
 *
 *     node scripts/with-node.js scripts/man-page.ts
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { userFile } from '../src/cli/config.ts';
import { createProgram } from '../src/cli/program.ts';
import { ERRORS } from '../src/vocabulary/error-codes.ts';
import { ROOT } from './steps.ts';

export const MAN_PAGE: string = join(ROOT, 'man/skillcell.1');

export function formatManPage(): string {
  const program = createProgram(() => undefined);
  const commands = leavesOf(program);
  return `${[
    `.TH SKILLCELL 1 "" "skillcell ${program.version() ?? ''}" "User Commands"`,
    '.SH NAME',
    `skillcell \\- ${escape('runs untrusted AI-agent skills, each call in a fresh sandbox')}`,
    '.SH SYNOPSIS',
    '.B skillcell',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH DESCRIPTION',
    escape(
      'Each call of a skill runs in a fresh sandbox that can do only what the manifest of the skill declares and you grant. Results go to standard output, everything else to standard error.',
    ),
    '.SH COMMANDS',
    ...commands.flatMap(formatCommand),
    '.SH EXIT STATUS',
    ...exitCodes(),
    '.SH ENVIRONMENT',
    ...entry('SKILLCELL_HOME', 'folder for data that outlives a call'),
    ...entry('SKILLCELL_FETCH_NODE', 'set to "never" to fetch no Node if the installed one is too old'),
    ...entry('NO_COLOR, FORCE_COLOR', 'switch colours off or on'),
    '.SH FILES',
    ...entry(`~/.config/${userFile().split('/').slice(-2).join('/')}`, 'defaults for options'),
    ...entry('skillcell.config.yaml', 'restrictions of a project'),
    ...entry('skillcell.policy.yaml', 'operator policy; every file in the current folder and above counts'),
  ].join('\n')}\n`;
}

/** Commands that run, with their parents as part of the name; groups have no action of their own. */
function leavesOf(command: Command): Command[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  return visible.flatMap((one) => (one.commands.length > 0 ? leavesOf(one) : [one]));
}

function formatCommand(command: Command): string[] {
  const help = command.createHelp();
  const parent = command.parent?.parent ? `${command.parent.name()} ` : '';
  const args = command.registeredArguments.map((one) => help.argumentTerm(one)).map((name) => ` ${name}`);
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  return [
    `.SS ${escape(`${parent}${command.name()}${args.join('')}`)}`,
    escape(`${help.commandDescription(command)}.`),
    ...options.flatMap((option) => entry(option.flags, help.optionDescription(option))),
  ];
}

function exitCodes(): string[] {
  const byExit = Map.groupBy(Object.entries(ERRORS), ([, { exit }]) => exit);
  const rows = [...byExit].toSorted(([a], [b]) => a - b);
  return [
    ...entry('0', 'success'),
    ...rows.flatMap(([exit, errors]) => entry(String(exit), errors.map(([code]) => code).join(', '))),
  ];
}

function entry(term: string, text: string): string[] {
  return ['.TP', `.B ${escape(term)}`, escape(text)];
}

/** A line that starts with a dot or a quote would be a request. */
function escape(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll(/\s+/g, ' ');
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}

if (import.meta.main) writeFileSync(MAN_PAGE, formatManPage());
