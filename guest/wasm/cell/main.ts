/**
 * Entry of a Wasm cell: reports that it is ready, receives its skill, and answers one call after the other.
 *
 * @module
 */
import { outcomeOf, type Outcome } from '../link/outcome.ts';
import { attend } from './attend.ts';
import { ChannelBroker } from './broker.ts';
import { Channel, type Frame } from './channel.ts';
import { Skill, type Finished } from './skill.ts';
import type { ComponentInit, FailureFields, UsageFields } from '../../protocol.ts';
import { outsideName } from './limit-names.ts';

const MAX_MESSAGE = 500;
/** The exit code of a process that died of SIGSEGV. */
const EXIT_OF_TRAP = 139;

const [, , folder = ''] = process.argv;
const encoder = new TextEncoder();
const channel = new Channel(() => process.exit(EXIT_OF_TRAP));
const broker = new ChannelBroker(channel);
let skill: Skill | undefined;
let isServing = false;

function onFrame({ body, payload }: Frame): void {
  switch (body.t) {
    case 'init':
      return load(body as ComponentInit);
    case 'reply':
      return broker.onReply(body, payload);
    case 'call':
      return void serve(body.call, payload);
    default:
      return body satisfies never;
  }
}

function load(init: ComponentInit): void {
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
    if (!skill) throw new Error('No skill has been loaded yet');
    const finished = await skill.call(params);
    broker.forget();
    answer(finished, { call, ...usageOf(finished, process.cpuUsage(before)) });
  } catch (error) {
    // The instance could not be created, for example because there is no memory for it.
    channel.send({ t: 'error', call, ...failure(outcomeOf(error)) });
  }
  isServing = false;
}

/** Runs after the reply, so that the caller does not wait. A failure here is repeated, and reported, by the next call. */
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
): UsageFields {
  return { fuel: Number(fuel), memory_bytes: memoryBytes, cpu_us: user + system + startCpuUs };
}

function answer({ outcome, stdout, outOfMemory }: Finished, facts: UsageFields & { call: number }): void {
  if (outcome.kind === 'ok')
    return channel.send({ t: 'result', ...facts }, stdout ?? encoder.encode(outcome.value));
  return channel.send({
    t: 'error',
    ...facts,
    ...failure(outcome),
    ...(outOfMemory ? { limit: 'memory' } : {}),
  });
}

function failure(outcome: Outcome): FailureFields {
  switch (outcome.kind) {
    case 'limit':
      return { type: 'Limit', message: outcome.limit, limit: outsideName(outcome.limit) };
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

function unlinked(error: unknown): FailureFields {
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'LinkError', message: message.slice(0, MAX_MESSAGE) };
}

channel.send({ t: 'ready' });
await attend(channel, { onFrame, isServing: () => isServing, onIdle: prepareNext });
