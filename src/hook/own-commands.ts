/**
 * Commands for Skillcell itself. They run scripts in the sandbox already, but some give permissions, which a model may not do
 * without a person.
 *
 * @module
 */
import { changesSkillcell } from './programs.ts';

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

const OWN_NAME = /^(?:.*\/)?skillcell(?:\.js)?(?:@[\w.-]+)?$/;
/** Programs that start other programs by name. */
const LAUNCHERS = new Set('npx pnpx bunx pnpm npm yarn bun'.split(' '));
/** What may stand between a launcher and the name of the program. All else is judged like any command. */
const LAUNCHES = /^(?:-y|--yes|-q|--quiet|--no-install|--offline|--prefer-offline|--|exec|x|dlx|run)$/;
const NODE_FLAGS = /^--(?:no-warnings|no-deprecation|enable-source-maps)$/;

function ownWords(name: string, words: Words): Words | undefined {
  if (OWN_NAME.test(name)) return words.slice(1);
  const isNode = /^node(?:js)?$/.test(name);
  if (!isNode && !LAUNCHERS.has(name)) return undefined;
  const between = isNode ? NODE_FLAGS : LAUNCHES;
  const at = words.findIndex((word, index) => index > 0 && !between.test(word ?? ''));
  if (at === -1 || !OWN_NAME.test(words[at] ?? '')) return undefined;
  const rest = words.slice(at + 1);
  return rest[0] === '--' ? rest.slice(1) : rest;
}

/** Why a person has to decide about a Skillcell command among the words of another program; empty if nobody has to. */
export function hiddenGrant(words: Words, cwd: string): string {
  const at = words.findIndex((word, index) => index > 0 && OWN_NAME.test(word ?? ''));
  const next = at === -1 ? undefined : words[at + 1];
  if (next === undefined || next.startsWith('-')) return '';
  return grantOf('skillcell', words.slice(at), cwd) ?? '';
}

/** A workspace other than the current folder. */
function widens(options: Words, at: number, cwd: string): boolean {
  const word = options[at] ?? '';
  if (word === '--workspace') return options[at + 1] !== cwd && options[at + 1] !== '.';
  return word.startsWith('--workspace=') && word !== `--workspace=${cwd}`;
}

/** Variables that are set in front of a command and change Skillcell. */
export function variablesIn(words: Words): string[] {
  const names = words.map((word) => /^([A-Za-z_]\w*)=/.exec(word ?? '')?.[1] ?? '');
  return names.filter((name) => changesSkillcell(name));
}

/** What `env` makes of the home folder. */
export function homesIn(words: Words): string[] {
  return words.flatMap((word) => (word?.startsWith('HOME=') === true ? [word.slice(5)] : []));
}
