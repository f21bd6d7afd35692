/**
 * Finds programs that the files of a bundle run as commands: in shell scripts, and as literals where Python and JavaScript
 * start programs. The text is matched, not parsed, so findings can be wrong and are only warnings. The work is bounded.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Finding } from './inspection.ts';

export interface Commands {
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
const MAX_LINE = 2000;
const SHEBANG_BYTES = 64;

const SHELL = new Set(['.sh', '.bash', '.zsh', '.ksh']);
const PROGRAM = new Set(['.py', '.js', '.mjs', '.cjs', '.ts']);
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

/** Searches the verified copy of a bundle. */
export function findCommands(
  stagedDir: string,
  paths: readonly string[],
  caps: CommandCaps = COMMAND_CAPS,
): Commands {
  const found: Commands = { programs: [], piped: [], skipped: [] };
  let left = caps.bytes;
  let files = 0;
  for (const path of paths) {
    if (!mayHaveCommands(path)) continue;
    if (left <= 0 || ++files > caps.files) {
      found.skipped.push({ value: path, at: path });
      continue;
    }
    const kind = kindOf(stagedDir, path);
    if (kind === undefined) continue;
    const { text, isCut } = readStart(join(stagedDir, path), Math.min(MAX_FILE_BYTES, left));
    left -= text.length;
    if (isCut) found.skipped.push({ value: path, at: path });
    if (kind === 'shell') scanShell(text, path, found);
    else scanProgram(text, path, found);
  }
  return capFindings(found);
}

/** Judges by name only: does this file have to be opened? */
function mayHaveCommands(path: string): boolean {
  const ending = extname(path).toLowerCase();
  return ending === '' || SHELL.has(ending) || PROGRAM.has(ending);
}

function kindOf(stagedDir: string, path: string): 'shell' | 'program' | undefined {
  const ending = extname(path).toLowerCase();
  if (SHELL.has(ending)) return 'shell';
  if (PROGRAM.has(ending)) return 'program';
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

function scanShell(text: string, path: string, found: Commands): void {
  text.split('\n').forEach((line, index) => scanLine(line, `${path}:${index + 1}`, found));
}

function scanLine(whole: string, at: string, found: Commands): void {
  const line = whole.slice(0, MAX_LINE).replace(/(?:^|\s)#.*$/, '');
  for (const device of ['/dev/tcp', '/dev/udp'])
    if (line.includes(`${device}/`)) found.programs.push({ value: device, at });
  if (PIPED.test(line)) found.piped.push({ value: line.trim(), at });
  for (const part of line.split(SEPARATORS)) {
    const program = commandIn(part);
    if (NETWORK_PROGRAMS.has(program) || INSTALLERS.has(program)) found.programs.push({ value: program, at });
  }
}

/** The program that a simple command starts, without its folder. */
function commandIn(part: string): string {
  let rest = part.trim();
  for (let next = rest.replace(PREFIX, ''); next !== rest; next = rest.replace(PREFIX, ''))
    rest = next.trim();
  const [word = ''] = rest.split(/\s/, 1);
  return word.replaceAll(/["'\\]/g, '').replace(/^.*\//, '');
}

function scanProgram(text: string, path: string, found: Commands): void {
  let line = 1;
  let counted = 0;
  for (const { index, 1: literal = '' } of text.matchAll(STARTS_PROGRAM)) {
    for (; counted < index; counted++) if (text.codePointAt(counted) === 0x0a) line++;
    scanLine(literal, `${path}:${line}`, found);
  }
}

function capFindings({ programs, piped, skipped }: Commands): Commands {
  return {
    programs: programs.slice(0, MAX_FINDINGS),
    piped: piped.slice(0, MAX_FINDINGS),
    skipped: skipped.slice(0, MAX_FINDINGS),
  };
}
