/**
 * The functions passed to the prelude. JavaScript in a cell can reach nothing else of its host, and skills see only what
 * the prelude exposes. Arguments are checked, because code that corrupts the engine's memory can call them too.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import type { Value } from '../engine/exports.ts';
import type { QuickJs } from '../engine/quickjs.ts';
import type { Running } from './running.ts';

/** Work of the host is charged as if the guest had done it. */
const BYTES_PER_FUEL = 16;
const MAX_EVENT_TEXT = 500;
const NO_BYTES = new Uint8Array(0);
const DECODER_FLAGS = { fatal: 1, ignoreBOM: 2 } as const;
const FIELD_SEPARATOR = '\n';

export interface HostContext {
  engine: QuickJs;
  running: Running;
}

type HostFunction = (context: HostContext, args: Value[]) => Value;

export const HOST_FUNCTIONS: ReadonlyMap<string, HostFunction> = new Map(
  Object.entries({ log, random, encode, decode, note, start, cancel, reply }),
);

function log({ engine, running }: HostContext, [text]: Value[]): Value {
  running.log(charged(engine, engine.utf8(text) ?? NO_BYTES));
  return engine.undefined;
}

function random({ engine, running }: HostContext, [length]: Value[]): Value {
  const bytes = running.call.random(Math.max(0, Math.floor(engine.number(length)) || 0));
  return engine.newBytes(charged(engine, bytes));
}

/** Encodes a string as UTF-8. */
function encode({ engine }: HostContext, [text]: Value[]): Value {
  return engine.newBytes(charged(engine, engine.utf8(text) ?? NO_BYTES));
}

/** Decodes UTF-8; undefined if that is impossible and the caller wants to know. */
function decode({ engine }: HostContext, [bytes, flags]: Value[]): Value {
  const wanted = engine.number(flags);
  const decoder = new TextDecoder('utf-8', {
    fatal: (wanted & DECODER_FLAGS.fatal) !== 0,
    ignoreBOM: (wanted & DECODER_FLAGS.ignoreBOM) !== 0,
  });
  try {
    const text = decoder.decode(charged(engine, engine.bytes(bytes) ?? NO_BYTES));
    return engine.newText(Buffer.from(text));
  } catch (error) {
    if (error instanceof TypeError) return engine.undefined;
    throw error;
  }
}

/** `denied` or `used`, the capability, the operation and what is declared, on one line each. */
function note({ engine, running }: HostContext, [text]: Value[]): Value {
  const fields = engine.text(text).split(FIELD_SEPARATOR, 4);
  const [t, capability = '', asked = '', declared = ''] = fields.map((one) => one.slice(0, MAX_EVENT_TEXT));
  running.note({ t: t === 'used' ? t : 'denied', capability, asked, declared });
  return engine.undefined;
}

function start({ engine, running }: HostContext, [id, name, args, bytes]: Value[]): Value {
  const input = { args: parsed(engine.text(args)), bytes: charged(engine, engine.bytes(bytes) ?? NO_BYTES) };
  running.start(engine.number(id), engine.text(name), input);
  return engine.undefined;
}

function cancel({ engine, running }: HostContext, [id]: Value[]): Value {
  running.cancel(engine.number(id));
  return engine.undefined;
}

/** The first reply counts. */
function reply({ engine, running }: HostContext, [kind, text]: Value[]): Value {
  running.reply ??= { kind: engine.text(kind), utf8: charged(engine, engine.utf8(text) ?? NO_BYTES) };
  return engine.undefined;
}

function charged(engine: QuickJs, bytes: Uint8Array): Uint8Array {
  engine.fuel -= BigInt(Math.ceil(bytes.length / BYTES_PER_FUEL));
  return bytes;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new GuestEnd('trap', 'The prelude sent a request that is not JSON');
}
