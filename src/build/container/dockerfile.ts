/**
 * Parses the part of the Dockerfile format that we build ourselves: instructions that run nothing. Everything else needs a
 * container engine, with a reason.
 *
 * @module
 */

export interface Instruction {
  /** Line number, starting at 1. */
  line: number;
  /** In upper case. */
  name: string;
  rest: string;
}

export type Dockerfile =
  | { instructions: Instruction[]; needsEngine?: undefined }
  | { instructions: Instruction[]; /** The part that needs one. */ needsEngine: string };

const SUPPORTED: ReadonlySet<string> = new Set('FROM COPY ENV USER WORKDIR ENTRYPOINT CMD LABEL'.split(' '));

export function parseDockerfile(text: string): Dockerfile {
  const instructions = readInstructions(text);
  const directive = /^\s*#\s*(syntax|escape|check)\s*=/im.exec(text);
  if (directive) return { instructions, needsEngine: `the directive "${directive[1]}"` };
  const unsupported = instructions.find((one, index) => !isSupported(one, index));
  if (!unsupported) return { instructions };
  return { instructions, needsEngine: `${unsupported.name} in line ${unsupported.line}` };
}

function readInstructions(text: string): Instruction[] {
  const found: Instruction[] = [];
  let open: { line: number; text: string } | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const joined = open ? `${open.text} ${line}` : line;
    const start: number = open?.line ?? index + 1;
    open = joined.endsWith('\\') ? { line: start, text: joined.slice(0, -1).trimEnd() } : undefined;
    if (!open) found.push(split(joined, start));
  }
  if (open) found.push(split(open.text, open.line));
  return found;
}

function split(text: string, line: number): Instruction {
  const [name = ''] = text.split(/\s/, 1);
  return { line, name: name.toUpperCase(), rest: text.slice(name.length).trim() };
}

/** Variables, escapes, patterns, stages and heredocs have complex rules and are left to engines. */
function isSupported({ name, rest }: Instruction, index: number): boolean {
  if (!SUPPORTED.has(name) || (name === 'FROM') !== (index === 0)) return false;
  if (name === 'FROM') return /^[^\s$-]\S*$/.test(rest) && rest !== 'scratch';
  if (name === 'ENTRYPOINT' || name === 'CMD') return true;
  if (/[$\\]|<</.test(rest)) return false;
  if (name !== 'COPY') return true;
  const flags = rest.match(/^(?:--\S+\s+)*/)?.[0] ?? '';
  return (
    !/[*?[]/.test(rest.replace(/^(?:--\S+\s+)*\[/, '')) &&
    /^(?:--(?:chown=\d+(?::\d+)?|chmod=[0-7]{3,4})\s+)*$/.test(flags)
  );
}

/** The words of an instruction: a JSON list, or separated by white space. */
export function wordsOf(rest: string): string[] {
  return listOf(rest) ?? rest.split(/\s+/).filter(Boolean);
}

/** A command: a JSON list, or a shell command. */
export function commandOf(rest: string): string[] {
  return listOf(rest) ?? ['/bin/sh', '-c', rest];
}

/** `a=1 b="two words"`, or the old form `a one value`. */
export function pairsOf(rest: string): [name: string, value: string][] {
  if (!/^[^\s=]+=/.test(rest)) {
    const [name = ''] = rest.split(/\s/, 1);
    return [[name, rest.slice(name.length).trim()]];
  }
  const pairs = rest.matchAll(/("[^"]*"|[^\s="]+)=("[^"]*"|'[^']*'|\S*)/g);
  return [...pairs].map(([, name = '', value = '']) => [unquote(name), unquote(value)]);
}

function unquote(text: string): string {
  return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text;
}

function listOf(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined;
  try {
    const list: unknown = JSON.parse(rest);
    return Array.isArray(list) && list.every((word) => typeof word === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}
