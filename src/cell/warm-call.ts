/**
 * What belongs to one call in a warm process: its broker, its output, what it used, and its end.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import { MAX_JSON_HERE } from '../json-text.ts';
import type { CapabilityEvent, EventsCut } from '../outcome.ts';
import type { CallBroker, Denials, GuestReply, KillReason, ProcessUsage } from './contract.ts';
import { cutOf, EventList } from './event-list.ts';
import type { GuestFrame } from './frames.ts';
import { asError, asEvent, unknownName } from './guest-frames.ts';
import { parseGuestJson } from './guest-json.ts';
import { HostCalls } from './host-calls.ts';
import { LogCapture } from './log-capture.ts';

/** More requests than this in one call is no use, but an attack on the host. */
const MAX_HOST_CALLS = 400_000;
/** What a frame costs us even if it says nothing. */
const LOG_FRAME_BYTES = 16;
const MAX_USED = 4096;
/** JSON of denials and uses; more than all that are kept. */
const MAX_TOLD_BYTES = 256 * 1024;
const MAX_USED_BYTES = 4 * 1024 * 1024;
/** JSON of all requests, which the host parses itself: twice what as many honest ones take as a call may make. */
const MAX_ASKED_BYTES = 64 * 1024 * 1024;
/** JSON of a frame with a piece of the log: it says nothing but that it is one, and how long. */
const MAX_LOG_JSON = 128;
const NO_BYTES = Buffer.alloc(0);

export interface WarmCallOptions {
  broker: CallBroker;
  channel: Duplex;
  outputLimit: number;
  /** The needs of the skill are recorded. */
  observes: boolean;
  /** Ends the whole process: nothing less stops a guest for certain. */
  end: (reason: KillReason) => void;
}

/** The call is over with this reply, or the frame was none that a cell sends. */
type Verdict = { reply: GuestReply } | 'broken' | undefined;

export class WarmCall {
  readonly number: number;
  readonly reply: Promise<GuestReply | undefined>;
  readonly logs: LogCapture;
  readonly #options: WarmCallOptions;
  readonly #hostCalls: HostCalls;
  readonly #deniedInside = new EventList();
  readonly #usedInside: CapabilityEvent[] = [];
  fuel = 0;
  cpuMs = 0;
  /** Of the instance as the cell tells it; as long as it has not, of the whole process. */
  memoryBytes = 0;
  resultBytes = 0;
  #logFrames = 0;
  #toldBytes = 0;
  #askedBytes = 0;
  #settleReply!: (reply: GuestReply | undefined) => void;

  constructor(number: number, options: WarmCallOptions) {
    this.number = number;
    this.#options = options;
    this.reply = new Promise((resolve) => (this.#settleReply = resolve));
    this.#hostCalls = new HostCalls(options.broker, options.channel);
    this.logs = new LogCapture([], (total) => {
      if (total + this.#logFrames > options.outputLimit + LOG_FRAME_BYTES) options.end('output');
    });
  }

  get used(): CapabilityEvent[] {
    return [...this.#options.broker.used, ...this.#usedInside];
  }

  get denied(): CapabilityEvent[] {
    return [...this.#options.broker.denied, ...this.#deniedInside.kept];
  }

  get cut(): EventsCut {
    return cutOf(this.#options.broker, this.#deniedInside);
  }

  get denials(): Denials {
    return { byHost: this.#options.broker.denied, inside: this.#deniedInside.kept };
  }

  get hostCalls(): number {
    return this.#hostCalls.count;
  }

  /** The first reply counts. Nothing is done for the guest from here on. */
  settle(reply: GuestReply | undefined): void {
    this.#hostCalls.end();
    this.#settleReply(reply);
  }

  /** What the host sees of a longer call. */
  measured({ cpuMs, memoryPeakBytes }: ProcessUsage): void {
    this.cpuMs = cpuMs;
    this.memoryBytes = memoryPeakBytes;
  }

  onFrame(frame: GuestFrame): Verdict {
    const { body, payload = NO_BYTES } = frame;
    if (this.#isTooMuch(frame)) return 'broken';
    switch (body['t']) {
      case 'log':
        return this.#onLog(payload);
      case 'ask':
        return this.#onAsk(frame);
      case 'denied':
      case 'used':
        return this.#onEvent(body['t'], body);
      case 'result':
      case 'error':
        if (body['call'] !== this.number) return 'broken';
        this.#noteUsage(body);
        return { reply: body['t'] === 'error' ? asError(body) : this.#result(payload) };
      default:
        return 'broken';
    }
  }

  /** Frames that nobody counts otherwise: parsing them is work of the host. */
  #isTooMuch({ body: { t }, bytes, payload = NO_BYTES }: GuestFrame): boolean {
    const size = bytes - payload.length;
    if (t === 'log') return size > MAX_LOG_JSON;
    if (t === 'ask') return (this.#askedBytes += size) > MAX_ASKED_BYTES;
    if (t !== 'denied' && t !== 'used') return false;
    return (this.#toldBytes += bytes) > MAX_TOLD_BYTES + (this.#options.observes ? MAX_USED_BYTES : 0);
  }

  #onEvent(kind: 'denied' | 'used', body: Record<string, unknown>): Verdict {
    const event = asEvent(body, kind);
    if (!event) return { reply: { kind: 'broken', message: unknownName('capability', body['capability']) } };
    if (kind === 'denied') this.#deniedInside.add(event);
    const observes = kind === 'used' && this.#options.observes;
    if (observes && this.#usedInside.length < MAX_USED) this.#usedInside.push(event);
    return undefined;
  }

  #onLog(bytes: Buffer): undefined {
    // Empty ones count too, or a flood of them would never end.
    if (bytes.length < LOG_FRAME_BYTES) this.#logFrames += LOG_FRAME_BYTES - bytes.length;
    this.logs.push(bytes);
  }

  #onAsk(frame: GuestFrame): undefined {
    this.#hostCalls.ask(frame);
    if (this.#hostCalls.count <= MAX_HOST_CALLS) return;
    this.settle({
      kind: 'error',
      type: 'Limit',
      message: 'too many requests',
      trace: '',
      limit: 'host_calls',
    });
    this.#options.end('done');
  }

  #result(json: Buffer): GuestReply {
    this.resultBytes = json.length;
    if (json.length > MAX_JSON_HERE) return { kind: 'unread', form: 'value', bytes: json };
    try {
      return { kind: 'result', ...parseGuestJson(json) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'error', type: 'NotJson', message: `the result is ${reason}`, trace: '' };
    }
  }

  #noteUsage(body: Record<string, unknown>): void {
    this.fuel = count(body['fuel']);
    // Of CPU time the larger figure: a cell could lie, and what the host has seen is rounded down.
    this.cpuMs = Math.max(this.cpuMs, count(body['cpu_us']) / 1000);
    this.memoryBytes = count(body['memory_bytes']);
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
