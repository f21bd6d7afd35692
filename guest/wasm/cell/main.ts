/**
 * Entry of a Wasm cell: says that it is there, is told what it serves, and answers one call after the other.
 *
 * @module
 */
import { outcomeOf, type Outcome } from '../link/outcome.ts';
import { attend } from './attend.ts';
import { ChannelBroker } from './broker.ts';
import { Channel, type Frame } from './channel.ts';
import { Skill, type CellInit, type Finished } from './skill.ts';

/** Names of limits inside the cell that are one limit outside; what is not here is about the size of data. */
const LIMIT_NAMES: Readonly<Record<string, string>> = {
  files: 'handles',
  fuel: 'fuel',
  handles: 'handles',
  memory: 'memory',
  host_calls: 'host_calls',
};
const MAX_MESSAGE = 500;
/** As a process ends that reached for memory that is not its own. */
const EXIT_OF_TRAP = 139;

const [, , folder = ''] = process.argv;
const encoder = new TextEncoder();
const channel = new Channel(() => process.exit(EXIT_OF_TRAP));
const broker = new ChannelBroker(channel);
let skill: Skill | undefined;
let isServing = false;

function onFrame(frame: Frame): void {
  switch (frame.body['t']) {
    case 'init':
      return load(frame.body as unknown as CellInit);
    case 'reply':
      return broker.onReply(frame);
    case 'call':
      return void serve(Number(frame.body['call']), frame.payload);
    default:
      return undefined;
  }
}

function load(init: CellInit): void {
  try {
    skill = new Skill({
      init,
      folder,
      broker,
      onLog: (bytes) => channel.send({ t: 'log' }, bytes),
      onDenied: (event) => channel.send({ t: 'denied', ...event }),
    });
    channel.send({ t: 'loaded' });
  } catch (error) {
    const outcome = outcomeOf(error);
    channel.send({ t: 'failed', ...(outcome.kind === 'limit' ? failure(outcome) : unlinked(error)) });
  }
}

async function serve(call: number, params: Uint8Array): Promise<void> {
  const before = process.cpuUsage();
  isServing = true;
  try {
    if (!skill) throw new Error('There is no skill yet');
    const finished = await skill.call(params);
    broker.forget();
    answer(finished, { call, ...usageOf(finished, process.cpuUsage(before)) });
  } catch (error) {
    // An instance could not even be made, e.g. because there is no memory for it.
    channel.send({ t: 'error', call, ...failure(outcomeOf(error)) });
  }
  isServing = false;
}

/** After the reply: the caller does not wait for it. What cannot be made ahead is tried again with the call, which is then told why. */
function prepareNext(): void {
  try {
    skill?.prepareNext();
  } catch {
    return;
  }
}

function usageOf(
  { fuel, memoryBytes, startCpuUs }: Finished,
  { user, system }: NodeJS.CpuUsage,
): Record<string, number> {
  return { fuel: Number(fuel), memory_bytes: memoryBytes, cpu_us: user + system + startCpuUs };
}

function answer({ outcome, stdout, outOfMemory }: Finished, facts: Record<string, number>): void {
  if (outcome.kind === 'ok')
    return channel.send({ t: 'result', ...facts }, stdout ?? encoder.encode(outcome.value));
  return channel.send({
    t: 'error',
    ...facts,
    ...failure(outcome),
    ...(outOfMemory ? { limit: 'memory' } : {}),
  });
}

function failure(outcome: Outcome): Record<string, string> {
  switch (outcome.kind) {
    case 'limit':
      return { type: 'Limit', message: outcome.limit, limit: LIMIT_NAMES[outcome.limit] ?? 'output' };
    case 'exit':
      return { type: 'Exit', message: `exit code ${outcome.code}` };
    case 'denied':
      return { type: 'Denied', message: outcome.detail };
    case 'trap':
      return { type: 'Trap', message: outcome.message };
    default:
      return { type: 'SkillError', message: outcome.value };
  }
}

function unlinked(error: unknown): Record<string, string> {
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'LinkError', message: message.slice(0, MAX_MESSAGE) };
}

channel.send({ t: 'ready' });
await attend(channel, { onFrame, isServing: () => isServing, onIdle: prepareNext });
