/**
 * Entry of a JavaScript cell: `main.js <engine> <artifact> [rehearse]`, the first two are folders. Reports that it is ready, receives its skill,
 * and answers one call after the other.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { attend } from '../../cell/attend.ts';
import { ChannelBroker } from '../../cell/broker.ts';
import { Channel, type Frame } from '../../cell/channel.ts';
import { compileFile } from '../../cell/compile.ts';
import { GuestEnd, type ModuleFacts } from '../../contract.ts';
import type { EngineCode } from '../engine/quickjs.ts';
import type { JsInit } from '../../../protocol.ts';
import { describeStart } from './end.ts';
import { JsCell } from './js-cell.ts';
import { rehearse } from './rehearse.ts';
import type { Listeners } from './running.ts';

const [, , engineFolder = '', artifact = '', ...options] = process.argv;
/** The exit code of a process that died of SIGSEGV. */
const EXIT_OF_TRAP = 139;
const channel = new Channel(() => process.exit(EXIT_OF_TRAP));
const broker = new ChannelBroker(channel);
const listeners: Listeners = {
  broker,
  onLog: (bytes) => channel.send({ t: 'log' }, bytes),
  onEvent: (event) => channel.send({ ...event }),
};
channel.send({ t: 'ready' });
const facts = JSON.parse(readFileSync(`${engineFolder}/facts.json`, 'utf8')) as ModuleFacts;
// Prepared while the host confines this process.
let code = tryCompile();
const prelude = readPrelude();
let cell: JsCell | undefined;
let isServing = false;
if (code && options.includes('rehearse')) await rehearse(code, prelude);
await attend(channel, { onFrame, isServing: () => isServing, onIdle: reset });

function onFrame({ body, payload }: Frame): void {
  switch (body.t) {
    case 'init':
      return load(body as JsInit);
    case 'reply':
      return broker.onReply(body, payload);
    case 'call':
      return void serve(body.call, payload);
    default:
      return body satisfies never;
  }
}

function load(init: JsInit): void {
  try {
    if (facts.memories.some(({ min }) => min > init.limits.pages)) throw new GuestEnd('limit', 'memory');
    code ??= compile();
    cell = new JsCell({ code, init, texts: { bundle: readBundle(), prelude } });
    channel.send({ t: 'loaded' });
  } catch (error) {
    channel.send({ ...describeStart(error), t: 'failed' });
  }
}

async function serve(call: number, params: Uint8Array): Promise<void> {
  const before = process.cpuUsage();
  isServing = true;
  try {
    if (!cell) throw new Error('No skill has been loaded yet');
    const { body, payload, fuel, memoryBytes } = await cell.call(params, listeners);
    broker.forget();
    const { user, system } = process.cpuUsage(before);
    channel.send({ ...body, call, fuel, memory_bytes: memoryBytes, cpu_us: user + system }, payload);
  } catch (error) {
    // The instance could not be created, for example because there is no memory for it.
    channel.send({ ...describeStart(error), call });
  }
  isServing = false;
}

/** Runs after the reply, so that the caller does not wait. A failure here is repeated, and reported, by the next call. */
function reset(): void {
  try {
    cell?.reset();
  } catch {
    return;
  }
}

function compile(): EngineCode {
  return { module: compileFile(`${engineFolder}/engine.wasm`), facts };
}

/** Fails if the skill may have less memory than the engine starts with; the call reports it. */
function tryCompile(): EngineCode | undefined {
  try {
    return compile();
  } catch {
    return undefined;
  }
}

function readBundle(): Map<string, string> {
  const texts = JSON.parse(readFileSync(`${artifact}/modules.json`, 'utf8')) as [string, string][];
  return new Map(texts);
}

function readPrelude(): Map<string, string> {
  const folder = new URL('../prelude/', import.meta.url);
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
}
