/**
 * Follows a printed fix word by word: edits the files it names, runs the commands it shows, passes the options it asks for.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isSeq, parse, parseDocument } from 'yaml';

export interface Followed {
  /** Keys of files that were changed, and commands that were run. */
  steps: string[];
  options: { workspace?: true; env?: string[]; leaveOut?: string; exported?: string };
}

export interface Follow {
  /** Files that the fix names are relative to it. */
  cwd: string;
  /** New value of a limit that the fix says to raise. */
  raiseTo?: number | string | undefined;
  run: (command: string) => Promise<void>;
}

const EDIT = /(Add to|Set|Raise) ([\w.]+) in ("(?:[^"\\]|\\.)*")(?:: | above )(.+?)\.(?= [A-Z]|$)/g;
const COMMAND = /`(skillcell [^`]+)`|: (skillcell [^\n]+)$/g;

export async function follow(fix: string, { cwd, raiseTo, run }: Follow): Promise<Followed> {
  const followed: Followed = { steps: [], options: {} };
  for (const [, verb, key = '', file = '', value = ''] of fix.matchAll(EDIT)) {
    const wanted = verb === 'Raise' ? raiseTo : (parse(value) as unknown);
    edit(resolve(cwd, JSON.parse(file) as string), key.split('.'), { wanted, adds: verb === 'Add to' });
    followed.steps.push(`${verb} ${key}`);
  }
  for (const [, quoted, last] of fix.matchAll(COMMAND)) {
    const command = quoted ?? last ?? '';
    await run(command);
    followed.steps.push(command.split(' ').slice(0, 3).join(' '));
  }
  if (fix.includes('--workspace DIR')) followed.options.workspace = true;
  const [, name] = /--env ([A-Z_]+)/.exec(fix) ?? [];
  if (name !== undefined) followed.options.env = [name];
  const [, option] = /--(\w+)[^.]*, or leave the option out/.exec(fix) ?? [];
  if (option !== undefined) followed.options.leaveOut = option;
  const [, exported] = /export ([A-Z_]+)=…/.exec(fix) ?? [];
  if (exported !== undefined) followed.options.exported = exported;
  return followed;
}

/** Numbers in a key are positions in a list. */
function edit(file: string, key: string[], { wanted, adds }: { wanted: unknown; adds: boolean }): void {
  mkdirSync(dirname(file), { recursive: true });
  const document = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '{}');
  const path = key.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const before = adds ? listAt(document.getIn(path)) : [];
  const value = adds ? [...before, wanted] : wanted;
  document.setIn(path, document.createNode(value));
  writeFileSync(file, String(document), { mode: 0o644 });
}

function listAt(node: unknown): unknown[] {
  return isSeq(node) ? node.toJSON() : [];
}
