/**
 * Entry of a Python cell: `main.js engine=… image=… bundle=… [packages=… bytecode=…]`, all folders. Reports that it is
 * ready, receives its skill, and answers one call after the other. It has no event loop: it waits by reading.
 *
 * @module
 */
import type { PythonWasmInit, ToReusable, UsageFields } from '../../../protocol.ts';
import { Channel, type Answer } from '../../cell/channel.ts';
import { collectNow } from '../../imaged/garbage.ts';
import type { StoredBytes } from '../../imaged/memory.ts';
import { BrokerError } from '../../wasi/broker-client.ts';
import { describeEnd } from './end.ts';
import { openEngine, readFolder, type Engine } from './engine-files.ts';
import type { FixedTree } from '../files/fixed-tree.ts';
import { ports } from './ports.ts';
import { PythonCell, type HostLine } from './python-cell.ts';
import { rehearse } from './rehearse.ts';

const folders = new Map(process.argv.slice(2).map((argument) => argument.split('=') as [string, string]));
/** The exit code of a process that died of SIGSEGV. */
const EXIT_OF_TRAP = 139;
const channel = new Channel(() => process.exit(EXIT_OF_TRAP));
const line: HostLine = {
  ask,
  log: (bytes, stream) =>
    channel.send(cell?.isCommand && stream ? { t: 'log', stream } : { t: 'log' }, bytes),
  denied: (body) => channel.send(body),
};
let asked = 0;
/** The call that is being served. */
let serving: { call: number; before: NodeJS.CpuUsage } | undefined;

channel.send({ t: 'ready' });
// Prepared while the host confines this process. The cell takes it over, and keeps less of it.
let engine: Engine<StoredBytes> | undefined = openEngine({
  code: folder('engine'),
  image: folder('image'),
  packages: folder('packages'),
});
let cell: PythonCell | undefined;
if (folders.has('rehearse')) rehearse(engine);

for (let frame = channel.receive(); frame; frame = channel.receive()) {
  const { body, payload } = frame;
  if (body.t === 'init') load(body as PythonWasmInit, payload);
  else if (body.t === 'call' && cell) serve(cell, body, payload);
}
process.exit(0);

/** `saved` is the image that an earlier process saved, or empty. */
function load(init: PythonWasmInit, saved: Uint8Array): void {
  const trees: Record<string, FixedTree> = { '/skill': readFolder(folder('bundle')) };
  if (folders.has('packages'))
    trees['/deps'] = readFolder(folder('bytecode'), readFolder(folder('packages')));
  const owned = engine;
  engine = undefined;
  try {
    if (!owned) throw new Error('This process already has a skill');
    cell = new PythonCell({
      engine: owned,
      init,
      folders: trees,
      ports: ports(exit),
      saved: saved.length === 0 ? undefined : Buffer.from(saved.buffer, saved.byteOffset, saved.length),
      collect: collectNow,
    });
    channel.send({ t: 'loaded' }, cell.save());
  } catch (error) {
    const { t: _, ...body } = describeEnd(error)?.body ?? { type: 'Trap', message: String(error) };
    channel.send({ t: 'failed', ...body });
  }
}

function folder(name: string): string {
  return folders.get(name) ?? '';
}

function serve(served: PythonCell, { call }: ToReusable['call'], params: Uint8Array): void {
  serving = { call, before: process.cpuUsage() };
  const { body, payload } = answer(served, params);
  channel.send({ ...body, ...usageOf(serving.before, served), call }, payload);
  serving = undefined;
  // After the reply, so that the caller does not wait for it.
  served.reset();
}

function usageOf(before: NodeJS.CpuUsage, served: PythonCell): UsageFields {
  const { user, system } = process.cpuUsage(before);
  return { cpu_us: user + system, memory_bytes: served.memoryBytes };
}

function answer(served: PythonCell, params: Uint8Array): Answer {
  try {
    return served.call(params, line);
  } catch (error) {
    line.log(new TextEncoder().encode(`The engine trapped: ${String(error)}\n`), 'stderr');
    return exit(EXIT_OF_TRAP);
  }
}

function ask(...[op, args, bytes]: Parameters<HostLine['ask']>): ReturnType<HostLine['ask']> {
  const id = asked++;
  channel.send({ t: 'ask', id, op, args }, bytes);
  for (let frame = channel.receive(); frame; frame = channel.receive()) {
    const { body, payload } = frame;
    if (body.t !== 'reply' || body.id !== id) continue;
    if ('code' in body) throw new BrokerError(body.code);
    return { value: body.value, bytes: payload };
  }
  return process.exit(0);
}

/** The guest has exited; nothing of this process is used again. */
function exit(code: number): never {
  const exitCode = code & 0xff;
  // A script that claimed its end before it exits breaks the protocol, as in a native cell: then there is no reply.
  if (serving && cell?.isCommand && !cell.hasEnded) {
    const usage = usageOf(serving.before, cell);
    channel.send({ t: 'ended', exit_code: exitCode, exits: true, ...usage, call: serving.call });
  }
  process.exit(exitCode);
}
