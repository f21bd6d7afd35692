/**
 * A project with all kinds of skills, and the real command that serves them.
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
  /** Arguments that start the server. */
  args: (...more: string[]) => string[];
  /** Adds a skill to the project. */
  add: (name: string, source: string, manifest?: Record<string, unknown>) => string;
  /** The receipt of a call, once another process can read it. */
  receiptOf: (callId: string) => Promise<Receipt>;
  /** Number of calls in the audit log. */
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
    '--bundled',
    '--policy',
    policy,
    '--project',
    folder,
    ...more,
  ];
  return { folder, env, args, add, receiptOf, countReceipts, close: () => removeFolder(folder) };
}

type Add = (name: string, source: string, manifest?: Record<string, unknown>) => string;

/** The tools that the conformance suite calls, under our names. */
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

/** A client that speaks only one protocol revision. */
const PATIENCE_MS = 600_000;

/** The client would give up after a minute, which a call can take on a busy machine. */
class PatientClient extends Client {
  override connect(...[transport, options]: Parameters<Client['connect']>): Promise<void> {
    return super.connect(transport, { timeout: PATIENCE_MS, ...options });
  }

  override listTools(...[params, options]: Parameters<Client['listTools']>): ReturnType<Client['listTools']> {
    return super.listTools(params, { timeout: PATIENCE_MS, ...options });
  }

  override callTool(...[params, options]: Parameters<Client['callTool']>): ReturnType<Client['callTool']> {
    return super.callTool(params, { timeout: PATIENCE_MS, ...options });
  }
}

export function clientOf(era: Era, listChanged: ListChangedHandlers = {}): Client {
  const mode = era === '2025-11-25' ? 'legacy' : { pin: era };
  return new PatientClient(
    { name: `client of ${era}`, version: '1.0.0' },
    { versionNegotiation: { mode }, listChanged },
  );
}

export interface HttpProcess {
  child: ChildProcess;
  url: URL;
  /** Its stderr so far. */
  notes: () => string;
}

/** Starts the server over HTTP, and returns when it listens. */
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

/** A call that would take a minute, and whether its process exists; idle cells look the same. */
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
      // The process has ended in the meantime.
      return [];
    }
  });
}

/** Waits until the condition holds. The timeout of the test bounds the wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 25));
}
