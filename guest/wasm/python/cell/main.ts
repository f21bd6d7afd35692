/**
 * Entry of a Python cell: `main.js engine=… image=… bundle=… [packages=… bytecode=…] [saved=…]`, all of them folders. Says that it is
 * there, is told what it serves, and answers one call after the other. There is no event loop in it: it waits by reading.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { Channel, type Frame } from '../../cell/channel.ts';
import { collectNow } from '../../imaged/garbage.ts';
import { BrokerError } from '../../wasi/broker-client.ts';
import type { Answer, PythonInit } from './contract.ts';
import { describeEnd } from './end.ts';
import { readEngine, readFolder } from './engine-files.ts';
import type { FixedTree } from '../files/fixed-tree.ts';
import { ports } from './ports.ts';
import { PythonCell, type HostLine } from './python-cell.ts';

const folders = new Map(process.argv.slice(2).map((argument) => argument.split('=') as [string, string]));
/** As a process ends that reached for memory that is not its own. */
const EXIT_OF_TRAP = 139;
const channel = new Channel(() => exit(EXIT_OF_TRAP));
const line: HostLine = {
  ask,
  log: (bytes) => channel.send({ t: 'log' }, bytes),
  denied: (body) => channel.send(body),
};
let asked = 0;

channel.send({ t: 'ready' });
// Prepared while the host confines this process.
const engine = readEngine(folder('engine'), folder('image'), folder('packages'));
let cell: PythonCell | undefined;

for (let frame = channel.receive(); frame; frame = channel.receive()) {
  if (frame.body['t'] === 'init') load(frame.body as unknown as PythonInit);
  else if (frame.body['t'] === 'call' && cell) serve(cell, frame);
}
process.exit(0);

function load(init: PythonInit): void {
  const trees: Record<string, FixedTree> = { '/skill': readFolder(folder('bundle')) };
  if (folders.has('packages'))
    trees['/deps'] = readFolder(folder('bytecode'), readFolder(folder('packages')));
  const saved = folders.has('saved') ? readFileSync(`${folder('saved')}/image.bin`) : undefined;
  try {
    cell = new PythonCell({ engine, init, folders: trees, ports: ports(exit), saved, collect: collectNow });
    channel.send({ t: 'loaded' }, cell.save());
  } catch (error) {
    const { t: _, ...body } = describeEnd(error)?.body ?? { type: 'Trap', message: String(error) };
    channel.send({ t: 'failed', ...body });
  }
}

function folder(name: string): string {
  return folders.get(name) ?? '';
}

function serve(served: PythonCell, { body: { call }, payload: params }: Frame): void {
  const before = process.cpuUsage();
  const { body, payload } = answer(served, params);
  const { user, system } = process.cpuUsage(before);
  channel.send({ ...body, call, cpu_us: user + system, memory_bytes: served.memoryBytes }, payload);
  // After the reply: the caller does not wait for it.
  served.reset();
}

function answer(served: PythonCell, params: Uint8Array): Answer {
  try {
    return served.call(params, line);
  } catch (error) {
    line.log(new TextEncoder().encode(`The engine trapped: ${String(error)}\n`));
    return exit(EXIT_OF_TRAP);
  }
}

function ask(...[op, args, bytes]: Parameters<HostLine['ask']>): ReturnType<HostLine['ask']> {
  const id = asked++;
  channel.send({ t: 'ask', id, op, args }, bytes);
  for (let frame = channel.receive(); frame; frame = channel.receive()) {
    if (frame.body['t'] !== 'reply' || frame.body['id'] !== id) continue;
    if (typeof frame.body['code'] === 'string') throw new BrokerError(frame.body['code']);
    return { value: frame.body['value'] as Record<string, unknown>, bytes: frame.payload };
  }
  return exit(0);
}

/** The guest ended itself; nothing of this process is used again. */
function exit(code: number): never {
  process.exit(code & 0xff);
}
