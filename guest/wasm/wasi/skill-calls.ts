/**
 * `skillcell:skill/skills`: calls of other skills, by the same requests as in every engine.
 *
 * @module
 */
import { GuestEnd, type HostInterfaces } from '../contract.ts';
import { BrokerError, type BrokerAnswer } from './broker-client.ts';
import { type Call, currentCall, type Slot } from './call.ts';
import { asList, asString, asU32 } from './check.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Failure {
  code: string;
  message: string;
  fix: string;
}

type Result<T> = { ok: T } | { err: Failure };

export function skillCallInterfaces(slot: Slot): HostInterfaces {
  return {
    'skillcell:skill/skills': {
      call: {
        suspends: true,
        call: async (name, params) => outcomeOf(await askFor(slot, 'skill.call', [name, params])),
      },
      start: {
        suspends: true,
        call: async (name, params) => startedOf(await askFor(slot, 'skill.start', [name, params])),
      },
      wait: { suspends: true, call: (calls) => wait(currentCall(slot), asList(calls).map(asU32)) },
      cancel: {
        suspends: true,
        call: async (call) => {
          await ask(currentCall(slot), { op: 'skill.cancel', args: { call: asU32(call) } });
        },
      },
    },
  };
}

interface Request {
  op: string;
  args: Record<string, unknown>;
  bytes?: Uint8Array;
}

function askFor(
  slot: Slot,
  op: string,
  [name, params]: [name: unknown, params: unknown],
): Promise<BrokerAnswer | Failure> {
  const call = currentCall(slot);
  const bytes = encoder.encode(asString(params));
  if (bytes.length > call.limits.requestBody) throw new GuestEnd('limit', 'output');
  return ask(call, { op, args: { name: asString(name) }, bytes });
}

/** A malformed request is a failure for the component, like a refused call. */
async function ask(call: Call, { op, args, bytes }: Request): Promise<BrokerAnswer | Failure> {
  try {
    return await call.request(op, args, bytes);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const message = `The host refused the request (${error.code})`;
    return { code: 'usage', message, fix: 'Correct the call.' };
  }
}

async function wait(call: Call, calls: number[]): Promise<Result<{ call: number; outcome: Result<string> }>> {
  const answer = await ask(call, { op: 'skill.wait', args: calls.length > 0 ? { calls } : {} });
  if ('code' in answer) return { err: answer };
  return { ok: { call: Number(answer.value['call']), outcome: outcomeOf(answer) } };
}

function outcomeOf(answer: BrokerAnswer | Failure): Result<string> {
  if ('code' in answer) return { err: answer };
  const { value, bytes } = answer;
  return value['ok'] === true ? { ok: decoder.decode(bytes) } : { err: failureOf(value) };
}

function startedOf(answer: BrokerAnswer | Failure): Result<number> {
  if ('code' in answer) return { err: answer };
  const { value } = answer;
  return 'call' in value ? { ok: Number(value['call']) } : { err: failureOf(value) };
}

function failureOf({ code, message, fix }: Record<string, unknown>): Failure {
  return { code: String(code), message: String(message), fix: String(fix) };
}
