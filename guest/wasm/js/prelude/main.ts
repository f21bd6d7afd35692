/**
 * Sets up what programs expect to find, and tells the host which functions to call.
 *
 * @module
 */
import { AbortController, AbortSignal } from './abort.ts';
import { structuredClone } from './clone.ts';
import { console } from './console.ts';
import { TextDecoder, TextEncoder } from './encoding.ts';
import { env } from './env.ts';
import { fetch } from './fetch.ts';
import { Headers } from './headers.ts';
import { enterAt, init } from './host.ts';
import { Request, Response } from './messages.ts';
import { settle } from './pending.ts';
import { crypto, random } from './random.ts';
import { load, rejected, serve } from './skill.ts';
import { functions, skills } from './skills.ts';
import { clearTimeout, setInterval, setTimeout } from './timers.ts';
import { URL, URLSearchParams } from './url.ts';

const GLOBALS = {
  AbortController,
  AbortSignal,
  Headers,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  clearInterval: clearTimeout,
  clearTimeout,
  console,
  crypto,
  fetch,
  process: { env },
  setInterval,
  setTimeout,
  structuredClone,
  ...(init.skills ? { functions, skills } : {}),
};

for (const [name, value] of Object.entries(GLOBALS)) define(globalThis, name, value);
define(Math, 'random', random);
hideFunctionsOfFrames();
enterAt({ load, serve, settle, rejected });

function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

/** A custom `prepareStackTrace` would receive stack frames, and with them host functions further down the stack. */
function hideFunctionsOfFrames(): void {
  const errors = Error as unknown as { prepareStackTrace?: unknown };
  const { prepareStackTrace } = errors;
  errors.prepareStackTrace = (_: Error, frames: object[]): object[] => frames;
  const [frame] = new Error('frames').stack as unknown as object[];
  errors.prepareStackTrace = prepareStackTrace;
  const kind = Object.getPrototypeOf(frame) as Record<string, unknown>;
  delete kind['getFunction'];
  delete kind['getThis'];
}
