/**
 * A process that runs every attack on Python in its own cell, resets the cell, and reports whether its memory is what it was:
 * `python-image-host.ts <home>`, one line of JSON for each call. It sees the memory by watching which ones are created, so
 * that cells need no extra access for it. Deadlines and exits, for which a real cell is killed, are survived here: what comes
 * after them must nevertheless be clean.
 *
 * @module
 */
/* oxlint-disable no-underscore-dangle -- names of the C library */
import { join } from 'node:path';
import { Script } from 'node:vm';
import { readAttack, writeBundle } from '../../attacks/runner/attack-source.ts';
import { PYTHON_ATTACKS } from '../../attacks/runner/python-attacks.ts';
import type { SkillAttack } from '../../attacks/runner/skill-attack.ts';
import { readFolder } from '../../guest/wasm/python/cell/engine-files.ts';
import { ports } from '../../guest/wasm/python/cell/ports.ts';
import { PythonCell, type HostLine } from '../../guest/wasm/python/cell/python-cell.ts';
import { BrokerError } from '../../guest/wasm/wasi/broker-client.ts';
import { readInstalled } from '../cell/engines/python-wasm/installed.ts';

const [, , home = ''] = process.argv;
const LOAD_MS = 20_000;
const CALL_MS = 500;
/** Its module body never ends. */
const NEVER_LOADED = 'py_block_at_import';
const PARAMS = {
  secret_file: '/var/tmp/secret.txt',
  unix_socket: '/var/tmp/socket',
  marker: 'invented-secret-',
  tcp_port: 1,
  web_port: 1,
  victim_pid: 1,
};

/** Nothing is granted, and there is no receiver. */
const LINE: HostLine = {
  ask: () => {
    throw new BrokerError('denied');
  },
  log: () => undefined,
  denied: () => undefined,
};

const MAX_CARD_PAGES = 17;

/** The most recently prepared engine. */
interface Seen {
  memory: WebAssembly.Memory | undefined;
  stackPointer: WebAssembly.Global | undefined;
}

const seen: Seen = { memory: undefined, stackPointer: undefined };
watchEngines();
const engine = readInstalled(home);
for (const attack of PYTHON_ATTACKS) {
  process.stdout.write(`${JSON.stringify({ name: attack.name, ...judge(attack) })}\n`);
}

function watchEngines(): void {
  const { Memory, Instance } = WebAssembly;
  WebAssembly.Memory = class extends Memory {
    constructor(...limits: ConstructorParameters<typeof Memory>) {
      super(...limits);
      // Not the memory of the marks.
      if ((limits[0].maximum ?? 0) > MAX_CARD_PAGES) seen.memory = this;
    }
  };
  WebAssembly.Instance = class extends Instance {
    constructor(...parts: ConstructorParameters<typeof Instance>) {
      super(...parts);
      const pointer = this.exports['__stack_pointer'];
      if (pointer instanceof WebAssembly.Global) seen.stackPointer = pointer;
    }
  };
}

interface Verdict {
  /** How the calls ended. */
  ends: string[];
  /** Whether the calls left the memory changed, so that there was something to reset. */
  changed: boolean;
  /** What differs after a reset; empty if nothing does. */
  differences: string[];
}

function judge(attack: SkillAttack): Verdict {
  const made = within(attack.name === NEVER_LOADED ? CALL_MS : LOAD_MS, () => newCell(attack));
  // There is no cell, and so no call.
  if (!(made instanceof PythonCell)) return { ends: [made], changed: false, differences: [] };
  const before = stateOf();
  const ends: string[] = [];
  const differences: string[] = [];
  let changed = true;
  for (const call of attack.calls) {
    const params = new TextEncoder().encode(JSON.stringify({ ...PARAMS, ...call }));
    const answer = within(CALL_MS, () => made.call(params, LINE));
    ends.push(
      typeof answer === 'string' ? answer : String('type' in answer.body ? answer.body.type : answer.body.t),
    );
    changed &&= differencesTo(before).length > 0;
    made.reset();
    differences.push(...differencesTo(before));
  }
  return { ends, changed, differences };
}

function newCell({ bundle, web = false }: SkillAttack): PythonCell {
  const folder = join(home, 'attacks', bundle);
  writeBundle(folder, readAttack('python-wasm', bundle));
  return new PythonCell({
    engine,
    folders: { '/skill': readFolder(folder) },
    ports: ports((code) => {
      throw new Error(`exit ${code}`);
    }),
    collect: () => (globalThis as { gc?: () => void }).gc?.(),
    init: {
      fresh: { newInstance: false, strict: false },
      keepBytes: 0,
      limits: { pages: 4096, output: 1 << 20, scratch: 16 << 20 },
      preopens: [{ id: 1, guestPath: '/workspace', writable: true }],
      harness: {
        task: 'call',
        entry: 'skill.py',
        view: { read: [], write: ['/workspace'], processes: false, env: [], observe: false },
        manifest: {},
        env: {},
        network: web,
        siblings: ['skill', 'manifest.yaml'],
      },
    },
  });
}

/** The result of the act, or how it ended. */
function within<T>(timeout: number, act: () => T): T | string {
  const held = globalThis as { act?: () => T };
  held.act = act;
  try {
    return new Script('act()').runInThisContext({ timeout }) as T;
  } catch (error) {
    return String(error).slice(0, 100);
  }
}

interface State {
  bytes: Buffer;
  stackPointer: unknown;
}

function stateOf(): State {
  return { bytes: Buffer.from(memoryNow()), stackPointer: seen.stackPointer?.value };
}

function memoryNow(): Buffer {
  return Buffer.from(seen.memory?.buffer ?? new ArrayBuffer(0));
}

function differencesTo(before: State): string[] {
  const now = memoryNow();
  const differences: string[] = [];
  const common = Math.min(now.length, before.bytes.length);
  if (now.compare(before.bytes, 0, common, 0, common) !== 0) differences.push('the memory is not the image');
  // The grown part of a memory is empty, and nothing of the rest is lost.
  const rest = now.length > common ? now.subarray(common) : before.bytes.subarray(common);
  if (!rest.equals(Buffer.alloc(rest.length))) differences.push('there is something beyond the image');
  if (seen.stackPointer?.value !== before.stackPointer) differences.push('the stack pointer is elsewhere');
  return differences;
}
