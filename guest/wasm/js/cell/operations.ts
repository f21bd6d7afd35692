/**
 * Operations that a skill waits for: requests, files and timers. Each ends with a JSON text for the prelude and optional bytes.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import { BrokerError } from '../../wasi/broker-client.ts';
import type { Call } from '../../wasi/call.ts';
import { fetchWhole, toRequest } from '../../wasi/http/whole.ts';
import { Denied, Files } from './files.ts';

const MAX_TIMEOUT_MS = 0x7fffffff;

export interface Settled {
  /** JSON: `{ value }` or `{ error: { code, message, denied } }`. */
  text: string;
  bytes?: Uint8Array | undefined;
}

export interface Operation {
  settled: Promise<Settled>;
  /** The result is no longer wanted. */
  cancel: () => void;
}

export interface OperationInput {
  /** From the guest's JSON, so it can be anything. */
  args: Record<string, unknown>;
  bytes: Uint8Array;
}

/** Undefined if there is no such operation. */
export function startOperation(name: string, input: OperationInput, call: Call): Operation | undefined {
  if (name === 'sleep') return sleep(Number(input.args['milliseconds']));
  const act = ACTS.get(name);
  if (!act) return undefined;
  return { settled: act(input, call).catch(failure), cancel: () => undefined };
}

type Act = (input: OperationInput, call: Call) => Promise<Settled>;

const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  ['fetch', fetchUrl],
  ['skill', callSkill],
  ['readFile', async (input, call) => ({ text: '{}', bytes: await filesOf(call).read(pathOf(input)) })],
  ['readDir', async (input, call) => valueOf(await filesOf(call).list(pathOf(input)))],
  ['stat', async (input, call) => valueOf(await filesOf(call).stat(pathOf(input)))],
]);

/** Whether the call failed is in the answer; the prelude makes an exception of it. */
async function callSkill({ args, bytes }: OperationInput, call: Call): Promise<Settled> {
  const answer = await call.request('skill.call', { name: String(args['name']) }, bytes);
  return { ...valueOf(answer.value), bytes: answer.bytes };
}

function pathOf({ args }: OperationInput): string {
  return String(args['path']);
}

function filesOf(call: Call): Files {
  return new Files(call, call.limits.responseBody);
}

function valueOf(value: unknown): Settled {
  return { text: JSON.stringify({ value }) };
}

async function fetchUrl({ args, bytes }: OperationInput, call: Call): Promise<Settled> {
  if (bytes.length > call.limits.requestBody) throw new GuestEnd('limit', 'http_body');
  const headers = (args['headers'] as unknown[]).map((pair) => (pair as unknown[]).map(String));
  const [method, url] = [String(args['method']), String(args['url'])];
  const request = toRequest(call, { method, url, headers: headers as [string, string][] });
  if (typeof request === 'string') return failed('inval', request);
  try {
    const { status, headers: received, body } = await fetchWhole(call, request, bytes);
    return { ...valueOf({ status, headers: received }), bytes: body };
  } catch (error) {
    const { scheme, authority, path } = request;
    const asked = `${request.method} ${scheme}://${authority}${path.split('?')[0]}`;
    if (error instanceof BrokerError && error.code === 'denied')
      throw new Denied('network', asked, 'no rule of the grant covers it');
    throw error;
  }
}

function sleep(milliseconds: number): Operation {
  const delay = Math.min(Math.max(0, milliseconds || 0), MAX_TIMEOUT_MS);
  let timer: NodeJS.Timeout | undefined;
  const settled = new Promise<Settled>((resolve) => {
    timer = setTimeout(() => resolve({ text: '{}' }), delay);
  });
  return { settled, cancel: () => clearTimeout(timer) };
}

/** Lets errors through that end the whole call. */
function failure(error: unknown): Settled {
  if (error instanceof Denied) {
    const { capability, asked, declared, message } = error;
    return {
      text: JSON.stringify({ error: { code: 'denied', message, denied: { capability, asked, declared } } }),
    };
  }
  if (error instanceof BrokerError) return failed(error.code, error.message);
  throw error;
}

function failed(code: string, message: string): Settled {
  return { text: JSON.stringify({ error: { code, message } }) };
}
