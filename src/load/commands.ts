/**
 * Finds programs that the files of a bundle run as commands: in shell scripts, and as literals where Python and JavaScript
 * start programs. In an Agent Skills folder, even in the code blocks of its texts. The text is matched, not parsed, so findings can be wrong and are only warnings. The work is bounded.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { CommandRisk } from '../vocabulary/command-risks.ts';
import type { Kind } from '../vocabulary/kinds.ts';
import { risksOf } from './command-risks.ts';
import type { Finding } from './inspection.ts';
import { commandsInMarkdown } from './markdown-commands.ts';
import { shellPrograms } from './shell-programs.ts';

/** A risky command and its location. */
export interface RiskyCommand extends Finding {
  risk: CommandRisk;
}

/** What only Agent Skills folders are searched for. */
export interface AgentCommands {
  risks: RiskyCommand[];
  /** Commands that the texts tell a model to run. */
  told: Finding[];
  /** Programs that the shell scripts start, once per script. */
  used: Finding[];
  /** Modules that the scripts of Node import. */
  imports: Finding[];
}

export interface Commands extends Partial<AgentCommands> {
  /** Programs known to use the network or to install packages. */
  programs: Finding[];
  /** Places where a program's output is run as a script. */
  piped: Finding[];
  /** Files that were not searched, or only in part. */
  skipped: Finding[];
}

export interface CommandCaps {
  /** Total size of the files that are searched. */
  bytes: number;
  /** Number of files that are opened. */
  files: number;
}

const MAX_FILE_BYTES = 128 * 1024;
export const COMMAND_CAPS: CommandCaps = { bytes: 512 * 1024, files: 200 };
const MAX_FINDINGS = 64;
const MAX_AGENT_FINDINGS = 500;
const MAX_LINE = 2000;
const MAX_TOLD = 200;
const SHEBANG_BYTES = 64;

const SHELL = new Set(['.sh', '.bash', '.zsh', '.ksh']);
const TEXTS = new Set(['.md', '.markdown']);
const IMPORT = /(?:\bfrom|\bimport|\bimport\s{0,5}\(|\brequire\s{0,5}\()\s{0,20}["']([^"'\n]{1,200})["']/g;
const PROGRAM = new Set(['.py', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']);
const SHELL_SHEBANG = /^#!\s*(?:\/usr\/bin\/env\s+)?\S*\b(?:ba|z|k|da)?sh\b/;

export const NETWORK_PROGRAMS: ReadonlySet<string> = new Set(
  'curl wget nc ncat netcat socat ssh scp sftp rsync ftp telnet aria2c dig nslookup /dev/tcp /dev/udp'.split(
    ' ',
  ),
);
export const INSTALLERS: ReadonlySet<string> = new Set(
  'pip pip3 pipx uv npm npx yarn pnpm apt apt-get apk dnf yum brew gem'.split(' '),
);

/** Text between two commands of one line. */
const SEPARATORS = /\|\||&&|[;|&(){}`]|\$\(/;
/** Words that may precede the command itself. */
const PREFIX =
  /^(?:(?:if|then|elif|else|while|until|do|time|exec|command|nohup|sudo|env|xargs|eval|!)\s+|[A-Za-z_]\w{0,60}=\S{0,200}\s+)/;
const PIPED =
  /\|\s{0,20}(?:sudo\s{1,20})?(?:\/\S{0,60}\/)?(?:ba|z|k|da)?sh\b|\b(?:eval|source)\s{1,20}["']?\$\(\s{0,20}(?:curl|wget)\b/;
const STARTS_PROGRAM =
  /\b(?:subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|os\.(?:system|popen|execv?p?|execlp?)|create_subprocess_(?:exec|shell)|exec(?:File)?(?:Sync)?|spawn(?:Sync)?)\s{0,20}\(\s{0,200}(?:\[\s{0,200})?[rbfu]{0,2}["'`]([^"'`\n]{1,300})["'`]/g;

/** Where and how to search. */
interface Search {
  stagedDir: string;
  isAgentSkill: boolean;
}

type Found = Commands & AgentCommands;

/** Searches the verified copy of a bundle. */
export function findCommands(
  stagedDir: string,
  paths: readonly string[],
  { caps = COMMAND_CAPS, kind = 'function' }: { caps?: CommandCaps; kind?: Kind } = {},
): Commands {
  const search = { stagedDir, isAgentSkill: kind !== 'function' };
  const found: Found = {
    ...{ programs: [], piped: [], skipped: [] },
    ...{ risks: [], told: [], used: [], imports: [] },
  };
  let left = caps.bytes;
  let files = 0;
  for (const path of search.isAgentSkill ? skillMdFirst(paths) : paths) {
    if (!mayHaveCommands(path, search)) continue;
    if (left <= 0 || ++files > caps.files) {
      found.skipped.push({ value: path, at: path });
      continue;
    }
    const kindOfFile = kindOf(path, search);
    if (kindOfFile === undefined) continue;
    const { text, isCut } = readStart(join(stagedDir, path), Math.min(MAX_FILE_BYTES, left));
    left -= text.length;
    if (isCut) found.skipped.push({ value: path, at: path });
    SCANS[kindOfFile](text, path, found);
  }
  return capFindings(found, search);
}

/** How many files may have commands, judged by their names. */
export function countCandidates(paths: readonly string[], kind: Kind): number {
  const isAgentSkill = kind !== 'function';
  return paths.filter((path) => mayHaveCommands(path, { isAgentSkill })).length;
}

/** The text that every agent reads comes before those that it may read. */
function skillMdFirst(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => Number(b === 'SKILL.md') - Number(a === 'SKILL.md'));
}

/** Judges by name only: does this file have to be opened? */
function mayHaveCommands(path: string, { isAgentSkill }: Pick<Search, 'isAgentSkill'>): boolean {
  const ending = extname(path).toLowerCase();
  return ending === '' || SHELL.has(ending) || PROGRAM.has(ending) || (isAgentSkill && TEXTS.has(ending));
}

type FileKind = 'shell' | 'python' | 'node' | 'text';

const SCANS: Readonly<Record<FileKind, (text: string, path: string, found: Found) => void>> = {
  shell: scanShell,
  python: scanProgram,
  node(text, path, found) {
    scanProgram(text, path, found);
    scanImports(text, path, found);
  },
  text: scanText,
};

function kindOf(path: string, { stagedDir }: Search): FileKind | undefined {
  const ending = extname(path).toLowerCase();
  if (SHELL.has(ending)) return 'shell';
  if (PROGRAM.has(ending)) return ending === '.py' ? 'python' : 'node';
  if (TEXTS.has(ending)) return 'text';
  if (ending !== '') return undefined;
  return SHELL_SHEBANG.test(readStart(join(stagedDir, path), SHEBANG_BYTES).text) ? 'shell' : undefined;
}

function readStart(file: string, bytes: number): { text: string; isCut: boolean } {
  const fd = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(bytes + 1);
    const count = readSync(fd, buffer, 0, bytes + 1, 0);
    return { text: buffer.toString('utf8', 0, Math.min(count, bytes)), isCut: count > bytes };
  } finally {
    closeSync(fd);
  }
}

function scanShell(text: string, path: string, found: Found): void {
  const lines = text.split('\n');
  lines.forEach((line, index) => scanLine(line, `${path}:${index + 1}`, found));
  for (const { program, line } of shellPrograms(lines, commandsIn))
    found.used.push({ value: program, at: `${path}:${line}` });
}

function scanText(text: string, path: string, found: Found): void {
  for (const { text: command, line } of commandsInMarkdown(text)) {
    const at = `${path}:${line}`;
    found.told.push({ value: command.slice(0, MAX_TOLD), at });
    scanLine(command, at, found);
  }
}

function scanLine(whole: string, at: string, found: Found): void {
  const line = whole.slice(0, MAX_LINE).replace(/(?:^|\s)#.*$/, '');
  for (const device of ['/dev/tcp', '/dev/udp'])
    if (line.includes(`${device}/`)) found.programs.push({ value: device, at });
  if (PIPED.test(line)) found.piped.push({ value: line.trim(), at });
  for (const risk of risksOf(line)) found.risks.push({ value: line.trim().slice(0, MAX_TOLD), at, risk });
  for (const program of commandsIn(line)) {
    if (NETWORK_PROGRAMS.has(program) || INSTALLERS.has(program)) found.programs.push({ value: program, at });
  }
}

/** The programs that a line starts. */
function commandsIn(line: string): string[] {
  return line.split(SEPARATORS).map(commandIn);
}

/** The program that a simple command starts, without its folder. */
function commandIn(part: string): string {
  let rest = part.trim();
  for (let next = rest.replace(PREFIX, ''); next !== rest; next = rest.replace(PREFIX, ''))
    rest = next.trim();
  const [word = ''] = rest.split(/\s/, 1);
  return word.replaceAll(/["'\\]/g, '').replace(/^.*\//, '');
}

function scanProgram(text: string, path: string, found: Found): void {
  for (const { value, line } of matchesOf(STARTS_PROGRAM, text)) scanLine(value, `${path}:${line}`, found);
}

function scanImports(text: string, path: string, found: Found): void {
  for (const { value, line } of matchesOf(IMPORT, text)) found.imports.push({ value, at: `${path}:${line}` });
}

/** The first group of each match, with its line. */
function matchesOf(pattern: RegExp, text: string): { value: string; line: number }[] {
  let line = 1;
  let counted = 0;
  return [...text.matchAll(pattern)].map(({ index, 1: value = '' }) => {
    for (; counted < index; counted++) if (text.codePointAt(counted) === 0x0a) line++;
    return { value, line };
  });
}

function capFindings(found: Found, { isAgentSkill }: Search): Commands {
  const { programs, piped, skipped, risks, told, used, imports } = found;
  const shared = {
    programs: programs.slice(0, MAX_FINDINGS),
    piped: piped.slice(0, MAX_FINDINGS),
    skipped: skipped.slice(0, MAX_FINDINGS),
  };
  if (!isAgentSkill) return shared;
  return {
    ...shared,
    risks: risks.slice(0, MAX_FINDINGS),
    told: told.slice(0, MAX_AGENT_FINDINGS),
    used: used.slice(0, MAX_AGENT_FINDINGS),
    imports: imports.slice(0, MAX_AGENT_FINDINGS),
  };
}
