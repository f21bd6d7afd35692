/**
 * Commands for Skillcell itself. They run scripts in the sandbox already, but some give permissions, which a model may not do
 * without a person.
 *
 * @module
 */
import { basename } from 'node:path';

type Words = readonly (string | undefined)[];

/** Commands that read, check or run with what is granted already. */
const HARMLESS = new Set(
  'list inspect validate doctor tools completion hook mcp help --help --version -V test run exec program'.split(
    ' ',
  ),
);
/** Options that give more. Those that start like one are asked about as well; `--no-stdin` only takes. */
const GIVING =
  /^--(?:write|host|env|program|processes|read|allow-|policy|execution|trust|secret|minimum|yes|no-(?!stdin$))/;

/** Why a person has to decide, an empty text if nobody has to, undefined for other programs. */
export function grantOf(name: string, words: Words, cwd: string): string | undefined {
  const own = ownWords(name, words);
  if (own === undefined) return undefined;
  const end = own.indexOf('--');
  const [command, ...options] = end === -1 ? own : own.slice(0, end);
  if (command === undefined && own.length > 0)
    return 'The arguments of this Skillcell command are computed by the shell.';
  if (command !== undefined && !HARMLESS.has(command))
    return `"skillcell ${command.slice(0, 20)}" can change what skills may do, so a person has to decide.`;
  if (options.includes(undefined))
    return 'The arguments of this Skillcell command are computed by the shell.';
  const giving = options.find((word, at) => GIVING.test(word ?? '') || widens(options, at, cwd));
  return giving === undefined
    ? ''
    : `"${giving.slice(0, 40)}" gives a skill more permissions, so a person has to decide.`;
}

/** Empty without a variable. */
export function reasonOfVariable(name: string | undefined): string {
  return name === undefined
    ? ''
    : `The variable "${name}" changes how Skillcell runs, so a person has to decide.`;
}

function ownWords(name: string, words: Words): Words | undefined {
  if (name === 'skillcell' || name === 'skillcell.js') return words.slice(1);
  const [, first, second] = words;
  if (name === 'npx' && first === 'skillcell') return words.slice(2);
  const isScript =
    name === 'node' && first !== undefined && basename(first) === 'skillcell.js' && second !== undefined;
  return isScript ? words.slice(2) : undefined;
}

/** A workspace other than the current folder. */
function widens(options: Words, at: number, cwd: string): boolean {
  const word = options[at] ?? '';
  if (word === '--workspace') return options[at + 1] !== cwd && options[at + 1] !== '.';
  return word.startsWith('--workspace=') && word !== `--workspace=${cwd}`;
}
