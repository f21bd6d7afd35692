/**
 * A project with skills of every kind that a client can meet, and the real command that serves them.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, type ListChangedHandlers } from '@modelcontextprotocol/client';
import { createRuntime, type Receipt } from '../../src/index.ts';
import { ROOT } from '../cli/command.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

export const BIN: string = join(ROOT, 'bin/skillcell.js');

const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

export interface Project {
  folder: string;
  env: Record<string, string>;
  /** What starts the server, after the name of the program. */
  args: (...more: string[]) => string[];
  /** Adds a skill beside those that are there. */
  add: (name: string, source: string) => string;
  /** What the audit log says of a call, as soon as another process can read it. */
  receiptOf: (callId: string) => Promise<Receipt>;
  /** How many calls the audit log has. */
  countReceipts: () => Promise<number>;
  close: () => void;
}

export function openProject(): Project {
  const folder = openFolder();
  const policy = join(folder, 'operator.yaml');
  writeFileSync(
    policy,
    'skills:\n  - { match: test/asks, decision: ask }\n  - { match: test/banned, decision: deny }\n',
  );
  const add = (name: string, source: string, manifest: Record<string, unknown> = {}): string =>
    writeSkill(folder, { id: name, source, manifest: { execution: ['subprocess'], ...manifest } });
  addSkills(add);
  const home = join(folder, 'home');
  const env = { ...inherited(), SKILLCELL_HOME: home, NO_COLOR: '1' };
  const receipts = async (): Promise<Receipt[]> => {
    await using runtime = createRuntime({ home });
    return runtime.audit.list({ limit: 1000 }).map(({ receipt }) => receipt);
  };
  const receiptOf = async (callId: string): Promise<Receipt> => {
    const mine = (await receipts()).find(({ call_id }) => call_id === callId);
    return mine ?? receiptOf(callId);
  };
  const countReceipts = async (): Promise<number> => (await receipts()).length;
  const args = (...more: string[]): string[] => [
    BIN,
    'mcp',
    '--policy',
    policy,
    '--project',
    folder,
    ...more,
  ];
  return { folder, env, args, add, receiptOf, countReceipts, close: () => removeFolder(folder) };
}

type Add = (name: string, source: string, manifest?: Record<string, unknown>) => string;

/** What the conformance suite calls, under our names. */
function addConformance(add: Add): void {
  add('test/simple_text', 'def execute(params):\n    return "This is a simple text response for testing."\n');
  add('test/error_handling', 'def execute(params):\n    raise ValueError("This tool intentionally fails")\n');
  add(
    'test/tool_with_progress',
    'import time\ndef execute(params):\n    time.sleep(1.2)\n    return "done"\n',
  );
  add('json/schema_2020_12_tool', 'def execute(params):\n    return params\n', {
    parameters: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
  });
}

function addSkills(add: Add): void {
  add('test/echo', 'def execute(params):\n    return {"said": params["text"]}\n', {
    parameters: TEXT,
    outputs: { said: { type: 'string' } },
  });
  add('test/text', 'def execute(params):\n    return "just text"\n');
  add('test/list', 'def execute(params):\n    return [1, 2]\n');
  add('test/fails', 'def execute(params):\n    raise ValueError("no such order")\n');
  add('test/peeks', 'def execute(params):\n    return open("/etc/passwd").read()\n');
  add(
    'test/slow',
    'import subprocess\ndef execute(params):\n    subprocess.run(["sleep", params["seconds"]])\n',
    {
      limits: { timeout: '90s', processes: 4 },
    },
  );
  addConformance(add);
  add('test/asks', 'def execute(params):\n    return {}\n');
  add('test/banned', 'def execute(params):\n    return {}\n');
}

function inherited(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(given);
}

/** A client that speaks one era and no other. */
export function clientOf(era: Era, listChanged: ListChangedHandlers = {}): Client {
  const mode = era === '2025-11-25' ? 'legacy' : { pin: era };
  return new Client(
    { name: `client of ${era}`, version: '1.0.0' },
    { versionNegotiation: { mode }, listChanged },
  );
}

export interface HttpProcess {
  child: ChildProcess;
  url: URL;
  /** Everything it printed for people so far. */
  notes: () => string;
}

/** The server over HTTP, listening. */
export async function startHttp(project: Project, ...more: string[]): Promise<HttpProcess> {
  const child = spawn(process.execPath, project.args('--http', '0', ...more), {
    env: project.env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let notes = '';
  const { promise, resolve, reject } = Promise.withResolvers<URL>();
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    notes += `${line}\n`;
    const [, url] = /^Listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) resolve(new URL(url));
  });
  child.on('exit', () => reject(new Error(`The server ended: ${notes}`)));
  return { child, url: await promise, notes: () => notes };
}

/** A call that would last a minute, and whether its process is there: cells that wait for calls look the same. */
export function slowCall(): { given: { seconds: string }; isRunning: () => boolean } {
  const seconds = `60.${randomInt(1e9, 1e10)}`;
  const isRunning = (): boolean => commandLines().includes(`sleep\0${seconds}\0`);
  return { given: { seconds }, isRunning };
}

function commandLines(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
    } catch {
      // Gone meanwhile.
      return [];
    }
  });
}

/** Waits until it holds. A hang is what the timeout of the test is for. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 25));
}
