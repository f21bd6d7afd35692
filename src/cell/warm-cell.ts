/**
 * A process that serves one call at a time and makes a fresh instance for each: nothing of a call survives in it.
 * After a deadline, a limit of the process or a broken protocol it is ended and never used again.
 *
 * @module
 */
import type { CapabilityEvent } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import {
  BrokerRefusal,
  type Artifact,
  type CallBroker,
  type CellProcess,
  type CellReport,
  type ExitInfo,
  type GuestReply,
  type OpenBroker,
} from './contract.ts';
import { encodeFrame, readFrames, type FrameFault, type GuestFrame } from './frames.ts';
import { asError } from './guest-frames.ts';
import { parseGuestJson } from './guest-json.ts';
import { LogCapture } from './log-capture.ts';
import { confined } from './session.ts';

/** Room in a frame beside the result itself. */
const FRAME_SLACK_BYTES = 64 * 1024;
/** More requests than this in one call is no use, but an attack on the host. */
const MAX_HOST_CALLS = 200_000;
const CPU_CHECK_MS = 50;

export interface WarmCellOptions {
  process: CellProcess;
  artifact: Artifact;
  grant: Grant;
  openBroker: OpenBroker;
}

/** What belongs to the one call that is running. */
interface Current {
  broker: CallBroker;
  logs: LogCapture;
  hostCalls: number;
  fuel: number;
  resultBytes: number;
  settle: (reply: GuestReply | undefined) => void;
}

export class WarmCell {
  /** Resolves when the cell can be called; false: it died first. */
  readonly ready: Promise<boolean>;
  readonly #options: WarmCellOptions;
  readonly #processLogs: LogCapture;
  #current: Current | undefined;
  #exit: ExitInfo | undefined;
  #started = false;
  #isReady = false;
  #calls = 0;
  #failure: GuestReply | undefined;
  #settleReady!: (ready: boolean) => void;

  constructor(options: WarmCellOptions) {
    this.#options = options;
    const { process, grant } = options;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    // The guest's output comes in frames; what the process itself prints only tells why it failed.
    this.#processLogs = new LogCapture(process.logs, (total) => {
      if (total > grant.limits.output) process.kill('output');
    });
    const limits = { maxBytes: grant.limits.output + FRAME_SLACK_BYTES, maxFrames: Number.POSITIVE_INFINITY };
    readFrames(process.channel, limits, {
      onFrame: (frame) => this.#onFrame(frame),
      onFault: (fault) => this.#onFault(fault),
    });
    process.channel.on('error', () => undefined);
    void process.exited.then((exit) => this.#onExit(exit));
  }

  get isIdle(): boolean {
    return this.#isReady && !this.#current && !this.isDead;
  }

  get isDead(): boolean {
    return this.#exit !== undefined || this.#options.process.killReason !== undefined;
  }

  get exited(): Promise<ExitInfo> {
    return this.#options.process.exited;
  }

  async call(params: unknown, signal?: AbortSignal): Promise<CellReport> {
    const { process } = this.#options;
    const began = performance.now();
    const stopLimits = this.#watchLimits(signal);
    const start = this.#calls++ === 0 ? 'cold' : 'warm';
    const { current, reply } = this.#openCall();
    if (await this.ready) this.#send({ t: 'call' }, Buffer.from(JSON.stringify(params)));
    const cpuBefore = process.usage().cpuMs;
    const answer = await reply;
    const wallMs = performance.now() - began;
    stopLimits();
    this.#current = undefined;
    current.broker.close();
    const { cpuMs, memoryPeakBytes } = process.usage();
    const logs = this.#isReady ? current.logs : this.#processLogs;
    return {
      start,
      started: this.#started,
      reply: withDenial(answer ?? this.#failure, current.broker.denied),
      exit: this.#exit,
      killReason: process.killReason,
      used: current.broker.used,
      denied: current.broker.denied,
      logs: logs.text(),
      logBytes: logs.totalBytes,
      resultBytes: current.resultBytes,
      wallMs,
      usage: { cpuMs: cpuMs - cpuBefore, memoryPeakBytes },
      fuel: current.fuel,
      hostCalls: current.hostCalls,
    };
  }

  close(): void {
    this.#options.process.kill('done');
  }

  #openCall(): { current: Current; reply: Promise<GuestReply | undefined> } {
    const { grant, artifact, openBroker, process } = this.#options;
    let settle!: Current['settle'];
    const reply = new Promise<GuestReply | undefined>((resolve) => (settle = resolve));
    const logs = new LogCapture([], (total) => {
      if (total > grant.limits.output) process.kill('output');
    });
    const current = {
      broker: openBroker(grant, artifact.bundle),
      logs,
      hostCalls: 0,
      fuel: 0,
      resultBytes: 0,
      settle,
    };
    this.#current = current;
    if (this.#exit) settle(undefined);
    return { current, reply };
  }

  /** Deadline, cancellation and the CPU time of this call; the returned function ends the watch. */
  #watchLimits(signal: AbortSignal | undefined): () => void {
    const { process, grant } = this.#options;
    const { limits } = grant;
    const deadline = setTimeout(() => process.kill('timeout'), limits.timeout);
    const cpuAtStart = process.usage().cpuMs;
    const cpu = setInterval(() => {
      if (process.usage().cpuMs - cpuAtStart > limits.cpu) process.kill('cpu');
    }, CPU_CHECK_MS);
    const abort = (): void => process.kill('aborted');
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    return () => {
      clearTimeout(deadline);
      clearInterval(cpu);
      signal?.removeEventListener('abort', abort);
    };
  }

  #onFrame(frame: GuestFrame): void {
    const { body } = frame;
    if (body['t'] === 'ready') return void this.#onHarnessReady(body);
    if (body['t'] === 'loaded') return this.#becomeReady();
    if (body['t'] === 'failed') return this.#onFailed(body);
    if (!this.#current) return this.#onFault({ kind: 'malformed', message: 'a frame outside of a call' });
    return this.#onCallFrame(frame, this.#current);
  }

  #onCallFrame({ body, payload }: GuestFrame, current: Current): void {
    switch (body['t']) {
      case 'log':
        return current.logs.push(payload ?? Buffer.alloc(0));
      case 'ask':
        return void this.#ask(body, payload, current);
      case 'result':
        return this.#onResult(body, payload ?? Buffer.alloc(0), current);
      case 'error':
        current.fuel = count(body['fuel']);
        return current.settle(asError(body));
      default:
        return this.#onFault({ kind: 'malformed', message: 'a frame of unknown kind' });
    }
  }

  #onResult(body: Record<string, unknown>, json: Buffer, current: Current): void {
    current.fuel = count(body['fuel']);
    current.resultBytes = json.length;
    try {
      current.settle({ kind: 'result', ...parseGuestJson(json) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      current.settle({ kind: 'error', type: 'NotJson', message: `the result is ${reason}`, trace: '' });
    }
  }

  /** The guest asks the holder of authority for something. */
  async #ask(body: Record<string, unknown>, payload: Buffer | undefined, current: Current): Promise<void> {
    const id = body['id'];
    if (++current.hostCalls > MAX_HOST_CALLS) return current.settle(tooManyHostCalls());
    const args = typeof body['args'] === 'object' && body['args'] !== null ? body['args'] : {};
    const request = {
      op: String(body['op']),
      args: args as Record<string, unknown>,
      ...(payload ? { payload } : {}),
    };
    try {
      const { value, payload: bytes } = await current.broker.handle(request);
      if (current === this.#current) this.#send({ t: 'reply', id, value }, bytes);
    } catch (error) {
      const code = error instanceof BrokerRefusal ? error.code : 'io';
      if (current === this.#current) this.#send({ t: 'reply', id, code });
    }
  }

  async #onHarnessReady(body: Record<string, unknown>): Promise<void> {
    // Once only: from here on the other end has seen the skill's bytes.
    if (this.#started) return;
    const { process, artifact, grant } = this.#options;
    this.#started = true;
    if (!(await confined(process, body))) return process.kill('protocol');
    this.#send({ t: 'init', ...artifact.init(grant) });
  }

  #becomeReady(): void {
    this.#isReady = true;
    this.#settleReady(true);
  }

  /** The skill cannot be made ready, e.g. because it imports what no cell has. */
  #onFailed(body: Record<string, unknown>): void {
    this.#failure = asError({ type: 'LinkError', ...body });
    this.#options.process.kill('done');
  }

  #onFault(fault: FrameFault): void {
    const { process } = this.#options;
    if (fault.kind === 'too_large') return process.kill('output');
    this.#current?.settle({ kind: 'broken', message: fault.message });
    process.kill('protocol');
  }

  #onExit(exit: ExitInfo): void {
    this.#exit = exit;
    this.#settleReady(false);
    this.#current?.settle(undefined);
  }

  #send(body: Record<string, unknown>, payload?: Uint8Array): void {
    const { channel } = this.#options.process;
    if (channel.writable) channel.write(encodeFrame(body, payload));
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** A skill that failed after it was denied something failed because of it, as far as anybody can tell. */
function withDenial(reply: GuestReply | undefined, denied: CapabilityEvent[]): GuestReply | undefined {
  const last = denied.at(-1);
  return reply?.kind === 'error' && last && !reply.limit ? { ...reply, denied: last } : reply;
}

function tooManyHostCalls(): GuestReply {
  return { kind: 'error', type: 'Limit', message: 'too many host calls', trace: '', limit: 'host_calls' };
}
