/**
 * System calls that need no files: arguments, environment, clocks, random numbers, waiting, exit.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import { BrokerError } from '../broker-client.ts';
import { type Call, CLOCK_STEP_NS } from '../call.ts';
import { argumentsOf, environmentOf } from '../cli.ts';
import { Timer, waitForAny } from '../wait.ts';
import { u32 } from './memory.ts';
import type { Preview1Process, SystemCall, SystemCalls } from './process.ts';

const NS_PER_MS = 1_000_000n;
const REALTIME = 0;
const MONOTONIC = 1;

const SUBSCRIPTION_BYTES = 48;
const EVENT_BYTES = 32;
const MAX_SUBSCRIPTIONS = 1024;
const EVENT_CLOCK = 0;
const EVENT_WRITE = 2;
const ABSOLUTE_TIME = 1;
const ERRNO_BADF = 8;

export function systemCalls(): SystemCalls {
  const noSocket: SystemCall = {
    run(process, [fd]) {
      process.descriptor(u32(fd));
      throw new BrokerError('notsock');
    },
  };
  return {
    ...stringLists(),
    ...clockCalls(),
    random_get: {
      run({ call, memory }, [buffer, length]) {
        // Checked before any number is drawn, because a false length may be huge.
        memory.bytes(u32(buffer), u32(length));
        memory.writeBytes(u32(buffer), call.random(u32(length)));
      },
    },
    poll_oneoff: { suspends: true, run: pollOneoff },
    sched_yield: { run: () => undefined },
    proc_exit: {
      run(_process, [code]) {
        throw new GuestEnd('exit', String(u32(code)));
      },
    },
    proc_raise: {
      run() {
        throw new BrokerError('nosys');
      },
    },
    sock_accept: noSocket,
    sock_recv: noSocket,
    sock_send: noSocket,
    sock_shutdown: noSocket,
  };
}

function stringLists(): SystemCalls {
  const args = (process: Preview1Process): Buffer[] => argumentsOf(process.call).map(terminated);
  const environ = (process: Preview1Process): Buffer[] =>
    environmentOf(process.call).map(([name, value]) => terminated(`${name}=${value}`));
  return {
    args_sizes_get: { run: (process, out) => writeSizes(process, args(process), out) },
    args_get: { run: (process, out) => writeStrings(process, args(process), out) },
    environ_sizes_get: { run: (process, out) => writeSizes(process, environ(process), out) },
    environ_get: { run: (process, out) => writeStrings(process, environ(process), out) },
  };
}

function terminated(text: string): Buffer {
  return Buffer.from(`${text.replaceAll('\0', '')}\0`);
}

function writeSizes({ memory }: Preview1Process, strings: Buffer[], [count, size]: unknown[]): void {
  memory.writeU32(u32(count), strings.length);
  memory.writeU32(
    u32(size),
    strings.reduce((sum, text) => sum + text.length, 0),
  );
}

function writeStrings({ memory }: Preview1Process, strings: Buffer[], [pointers, buffer]: unknown[]): void {
  let at = u32(buffer);
  for (const [index, text] of strings.entries()) {
    memory.writeU32(u32(pointers) + index * 4, at);
    memory.writeBytes(at, text);
    at += text.length;
  }
}

function clockCalls(): SystemCalls {
  return {
    clock_res_get: {
      run({ memory }, [clock, out]) {
        memory.writeU64(u32(out), knownClock(u32(clock)) === REALTIME ? NS_PER_MS : CLOCK_STEP_NS);
      },
    },
    clock_time_get: {
      run({ call, memory }, [clock, , out]) {
        memory.writeU64(u32(out), clockTime(call, u32(clock)));
      },
    },
  };
}

function knownClock(clock: number): number {
  if (clock !== REALTIME && clock !== MONOTONIC) throw new BrokerError('inval');
  return clock;
}

function clockTime(call: Call, clock: number): bigint {
  return knownClock(clock) === REALTIME ? BigInt(call.wallMilliseconds()) * NS_PER_MS : call.monotonic();
}

interface Subscription {
  userdata: bigint;
  type: number;
  /** For a clock; files and streams are always ready. */
  timer?: Timer;
  errno: number;
}

async function pollOneoff(process: Preview1Process, args: unknown[]): Promise<void> {
  const [input, output, count, out] = args.map(u32);
  if (input === undefined || output === undefined || count === undefined || out === undefined) {
    throw new BrokerError('inval');
  }
  if (count === 0 || count > MAX_SUBSCRIPTIONS) throw new BrokerError('inval');
  const { memory } = process;
  memory.bytes(output, count * EVENT_BYTES);
  memory.writeU32(out, 0);
  const subscriptions: Subscription[] = [];
  for (let index = 0; index < count; index += 1) {
    subscriptions.push(readSubscription(process, input + index * SUBSCRIPTION_BYTES));
  }
  if (subscriptions.every((one) => one.timer !== undefined)) {
    await waitForAny(subscriptions.map((one) => one.timer).filter((timer) => timer !== undefined));
  }
  const ready = subscriptions.filter((one) => one.timer === undefined || one.timer.ready());
  for (const [index, one] of ready.entries()) writeEvent(process, output + index * EVENT_BYTES, one);
  memory.writeU32(out, ready.length);
}

function readSubscription(process: Preview1Process, at: number): Subscription {
  const { memory, call } = process;
  memory.bytes(at, SUBSCRIPTION_BYTES);
  const userdata = memory.readU64(at);
  const type = memory.readU8(at + 8);
  if (type > EVENT_WRITE) throw new BrokerError('inval');
  if (type === EVENT_CLOCK) {
    const clock = knownClock(memory.readU32(at + 16));
    const timeout = memory.readU64(at + 24);
    const absolute = (memory.readU16(at + 40) & ABSOLUTE_TIME) !== 0;
    const wait = absolute ? timeout - clockTime(call, clock) : timeout;
    return { userdata, type, timer: new Timer(call, call.monotonic() + wait), errno: 0 };
  }
  return { userdata, type, errno: isOpen(process, memory.readU32(at + 16)) ? 0 : ERRNO_BADF };
}

function isOpen(process: Preview1Process, fd: number): boolean {
  try {
    process.descriptor(fd);
    return true;
  } catch {
    return false;
  }
}

function writeEvent({ memory }: Preview1Process, at: number, event: Subscription): void {
  memory.bytes(at, EVENT_BYTES).fill(0);
  memory.writeU64(at, event.userdata);
  memory.writeU16(at + 8, event.errno);
  memory.writeU8(at + 10, event.type);
  // Programs take zero bytes for the end of a stream.
  if (event.type !== EVENT_CLOCK && event.errno === 0) memory.writeU64(at + 16, 1n);
}
