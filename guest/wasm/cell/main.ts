/**
 * Entry of a Wasm cell: says that it is there, is told what it serves, and answers one call after the other.
 *
 * @module
 */
import { ChannelBroker } from './broker.ts';
import { Channel, type Frame } from './channel.ts';
import { Skill, type CellInit, type Finished } from './skill.ts';

/** Names of limits inside the cell that are one limit outside. */
const LIMIT_NAMES: Readonly<Record<string, string>> = {
  files: 'handles',
  fuel: 'fuel',
  handles: 'handles',
  memory: 'memory',
  host_calls: 'host_calls',
};

const [, , folder = ''] = process.argv;
const channel = new Channel(onFrame);
const broker = new ChannelBroker(channel);
let skill: Skill | undefined;

function onFrame(frame: Frame): void {
  switch (frame.body['t']) {
    case 'init':
      return load(frame.body as unknown as CellInit);
    case 'reply':
      return broker.onReply(frame);
    case 'call':
      return void serve(frame.payload);
    default:
      return undefined;
  }
}

function load(init: CellInit): void {
  try {
    skill = new Skill({ init, folder, broker, onLog: (bytes) => channel.send({ t: 'log' }, bytes) });
    channel.send({ t: 'loaded' });
  } catch (error) {
    channel.send({
      t: 'failed',
      type: 'LinkError',
      message: error instanceof Error ? error.message : String(error),
    });
  }
}

async function serve(params: Uint8Array): Promise<void> {
  if (!skill) return;
  const finished = await skill.call(params);
  broker.forget();
  answer(finished);
  // After the reply: the caller does not wait for the next one's instance.
  setImmediate(() => skill?.prepareNext());
}

function answer({ outcome, stdout, fuel, outOfMemory }: Finished): void {
  const used = { fuel: Number(fuel) };
  const fail = (type: string, rest: Record<string, unknown>): void =>
    channel.send({ t: 'error', type, ...used, ...rest });
  switch (outcome.kind) {
    case 'ok':
      return channel.send({ t: 'result', ...used }, new TextEncoder().encode(outcome.value));
    case 'err':
      return fail('SkillError', { message: outcome.value });
    case 'exit':
      if (outcome.code === 0) return channel.send({ t: 'result', ...used }, Buffer.concat(stdout));
      return fail('Exit', { message: `exit code ${outcome.code}` });
    case 'limit':
      return fail('Limit', { message: outcome.limit, limit: LIMIT_NAMES[outcome.limit] ?? 'output' });
    case 'denied':
      return fail('Denied', { message: outcome.detail });
    case 'trap':
      return fail('Trap', { message: outcome.message, ...(outOfMemory ? { limit: 'memory' } : {}) });
  }
}

channel.send({ t: 'ready' });
