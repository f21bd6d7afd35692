/**
 * The state of one call in a warm process: its broker, output, usage and reply.
 *
 * @module
 */
import type { Duplex } from 'node:stream';
import type {
  CapabilityFields,
  ExitFields,
  ReusableFrames,
  Unchecked,
  UsageFields,
} from '../../../guest/protocol.ts';
import { MAX_JSON_HERE } from '../../json-text.ts';
import type { CapabilityEvent, EventsCut } from '../../outcome.ts';
import { OUTPUT_STREAM_NAMES } from '../../vocabulary/streams.ts';
import type { CallBroker, Denials, GuestReply, KillReason, ProcessUsage } from '../contract.ts';
import { cutOf, EventList } from './event-list.ts';
import { reusableKind } from './frame-kinds.ts';
import type { GuestFrame } from './frames.ts';
import { asError, asEvent, unknownName } from './guest-frames.ts';
import { parseGuestJson } from './guest-json.ts';
import { HostCalls } from './host-calls.ts';
import { LogCapture } from './log-capture.ts';

/** A call with more requests than this is an attack on the host. */
const MAX_HOST_CALLS = 400_000;
/** Minimum size that a log frame counts for, even if it is empty. */
const LOG_FRAME_BYTES = 16;
const MAX_USED = 4096;
/** Maximum JSON bytes of denials and uses; more than all that are kept. */
const MAX_EVENT_BYTES = 256 * 1024;
const MAX_USED_BYTES = 4 * 1024 * 1024;
/** Maximum JSON bytes of all requests, which the host parses: twice what the maximum number of honest requests takes. */
const MAX_ASK_BYTES = 64 * 1024 * 1024;
/** Maximum JSON of a log frame, which contains only its kind and the payload length. */
const MAX_LOG_JSON = 128;
const MAX_EXIT_CODE = 255;
const NO_BYTES = Buffer.alloc(0);

export interface WarmCallOptions {
  broker: CallBroker;
  channel: Duplex;
  outputLimit: number;
  /** Whether the needs of the skill are recorded. */
  observes: boolean;
  /** The call is a command: its exit code and output are the result. */
  isCommand: boolean;
  /** Kills the whole process, the only reliable way to stop a guest. */
  end: (reason: KillReason) => void;
}

/** The reply that ends the call, or `broken` if the frame is not one that a cell may send now. */
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
  /** Memory of the instance, as reported by the cell; until then, of the whole process. */
  memoryBytes = 0;
  resultBytes = 0;
  #logFrames = 0;
  #eventBytes = 0;
  #askBytes = 0;
  #settleReply!: (reply: GuestReply | undefined) => void;

  constructor(number: number, options: WarmCallOptions) {
    this.number = number;
    this.#options = options;
    this.reply = new Promise((resolve) => (this.#settleReply = resolve));
    this.#hostCalls = new HostCalls(options.broker, options.channel);
    const { isCommand, outputLimit, end } = options;
    const onBytes = (total: number): void => {
      if (total + this.#logFrames > outputLimit + LOG_FRAME_BYTES) end('output');
    };
    this.logs = new LogCapture([], onBytes, isCommand ? outputLimit : undefined);
  }

  get used(): CapabilityEvent[] {
    return [...this.#options.broker.used, ...this.#usedInside];
  }

  get denied(): CapabilityEvent[] {
    return [...this.#options.broker.denied, ...this.#deniedInside.kept];
  }

  get cut(): EventsCut {
    return cutOf([this.#options.broker], this.#deniedInside);
  }

  get failedInside(): CallBroker['failedInside'] {
    return this.#options.broker.failedInside;
  }

  get denials(): Denials {
    return { byHost: this.#options.broker.denied, inside: this.#deniedInside.kept };
  }

  get hostCalls(): number {
    return this.#hostCalls.count;
  }

  /** Settles the call; only the first reply counts. No requests are served from here on. */
  settle(reply: GuestReply | undefined): void {
    this.#hostCalls.end();
    this.#settleReply(reply);
  }

  /** Stores what the host measured during a longer call. */
  recordUsage({ cpuMs, memoryPeakBytes }: ProcessUsage): void {
    this.cpuMs = cpuMs;
    this.memoryBytes = memoryPeakBytes;
  }

  onFrame(frame: GuestFrame): Verdict {
    const { body, payload = NO_BYTES } = frame;
    const kind = reusableKind(body);
    if (this.#isTooMuch(kind, frame)) return 'broken';
    switch (kind) {
      case 'log':
        return this.#onLog(payload, body['stream']);
      case 'ask':
        return this.#onAsk(frame);
      case 'denied':
      case 'used':
        return this.#onEvent(kind, body);
      case 'result':
      case 'error':
      case 'ended':
        if (body['call'] !== this.number) return 'broken';
        this.#recordReportedUsage(body);
        return this.#onReply(kind, body, payload);
      case 'ready':
      case 'loaded':
      case 'failed':
      case undefined:
        return 'broken';
      default:
        return kind satisfies never;
    }
  }

  /** A command ends with its exit code, unless a limit stopped it; other calls never do. */
  #onReply(kind: 'result' | 'error' | 'ended', body: GuestFrame['body'], payload: Buffer): Verdict {
    const { isCommand } = this.#options;
    if (kind === 'ended') return isCommand ? this.#ended(body) : 'broken';
    if (kind === 'result') return isCommand ? 'broken' : { reply: this.#result(payload) };
    const reply = asError(body);
    const isRefused = isCommand && reply.kind === 'error' && !reply.limit;
    return isRefused ? 'broken' : { reply };
  }

  /** A skill chooses its exit code; the output is what the host captured. */
  #ended({ exit_code: exitCode }: Unchecked<ExitFields>): Verdict {
    const isCode = typeof exitCode === 'number' && Number.isInteger(exitCode);
    if (!isCode || exitCode < 0 || exitCode > MAX_EXIT_CODE) return 'broken';
    const [stdout, stderr] = [this.logs.bytesOf('stdout'), this.logs.bytesOf('stderr')];
    return { reply: { kind: 'ended', exitCode, stdout, stderr } };
  }

  /** Limits frames that are not counted elsewhere, because parsing them costs the host CPU time. */
  #isTooMuch(kind: keyof ReusableFrames | undefined, { bytes, payload = NO_BYTES }: GuestFrame): boolean {
    const size = bytes - payload.length;
    if (kind === 'log') return size > MAX_LOG_JSON;
    if (kind === 'ask') return (this.#askBytes += size) > MAX_ASK_BYTES;
    if (kind !== 'denied' && kind !== 'used') return false;
    return (this.#eventBytes += bytes) > MAX_EVENT_BYTES + (this.#options.observes ? MAX_USED_BYTES : 0);
  }

  #onEvent(kind: 'denied' | 'used', body: Unchecked<CapabilityFields>): Verdict {
    const event = asEvent(body, kind);
    if (!event) return { reply: { kind: 'broken', message: unknownName('capability', body.capability) } };
    if (kind === 'denied') this.#deniedInside.add(event);
    const observes = kind === 'used' && this.#options.observes;
    if (observes && this.#usedInside.length < MAX_USED) this.#usedInside.push(event);
    return undefined;
  }

  #onLog(bytes: Buffer, name: unknown): Verdict {
    const stream = OUTPUT_STREAM_NAMES.find((one) => one === name);
    // Every output of a command belongs to one of its streams.
    if ((stream !== undefined) !== this.#options.isCommand) return 'broken';
    // Empty frames count too, so that a flood of them reaches the limit.
    if (bytes.length < LOG_FRAME_BYTES) this.#logFrames += LOG_FRAME_BYTES - bytes.length;
    this.logs.push(bytes, stream);
    return undefined;
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

  #recordReportedUsage(body: Unchecked<UsageFields>): void {
    this.fuel = count(body.fuel);
    // Takes the larger CPU time: the cell may lie, and the host's measurement is rounded down.
    this.cpuMs = Math.max(this.cpuMs, count(body.cpu_us) / 1000);
    this.memoryBytes = count(body.memory_bytes);
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
