/**
 * What the skill waits for: numbered requests to the host, whose answers settle promises.
 *
 * @module
 */
import { CapabilityDenied, type Denial } from './denials.ts';
import { host } from './host.ts';

export interface HostAnswer {
  value?: unknown;
  bytes?: Uint8Array | undefined;
}

/** The host could not do what was requested. */
export class HostFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  resolve: (answer: HostAnswer) => void;
  reject: (error: Error) => void;
}

interface Told {
  value?: unknown;
  error?: { code: string; message: string; denied?: Denial };
}

/** Captured before the skill could change them. */
const { parse, stringify } = JSON;
const waiting = new Map<number, Waiting>();
let next = 1;

export interface Question {
  id: number;
  answer: Promise<HostAnswer>;
}

export function ask(name: string, args: Record<string, unknown>, bytes?: Uint8Array): Question {
  const id = next++;
  const { promise, resolve, reject } = Promise.withResolvers<HostAnswer>();
  waiting.set(id, { resolve, reject });
  host.start(id, name, stringify(args), bytes);
  return { id, answer: promise };
}

/** The result is no longer wanted; the promise never settles. */
export function withdraw(id: number): void {
  if (waiting.delete(id)) host.cancel(id);
}

export function settle(id: number, text: string, bytes?: Uint8Array): void {
  const found = waiting.get(id);
  if (!found) return;
  waiting.delete(id);
  const { value, error } = parse(text) as Told;
  if (!error) found.resolve({ value, bytes });
  else if (error.denied) found.reject(new CapabilityDenied(error.denied));
  else found.reject(new HostFailure(error.code, error.message));
}
