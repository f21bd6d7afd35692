/**
 * A process that serves one call at a time and makes a fresh instance for each: nothing of a call survives in it.
 * After a deadline, a limit of the process or a broken protocol it is ended and never used again.
 *
 * @module
 */
import { unattended, type SkillError } from '../errors.ts';
import { asInternal, type FaultOwner } from '../fault-owner.ts';
import { JsonText } from '../json-text.ts';
import type { StartKind } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import type {
  Artifact,
  CallBroker,
  CellProcess,
  CellReport,
  ExitInfo,
  GuestReply,
  JobExtras,
  KillReason,
  LaunchFault,
  OpenBroker,
} from './contract.ts';
import { encodeFrame, readFrames, type FrameFault, type GuestFrame } from './frames.ts';
import { asError } from './guest-frames.ts';
import { LogCapture } from './log-capture.ts';
import { confined, ended, withDenial } from './session.ts';
import { WarmCall } from './warm-call.ts';

/** Room behind a frame beside the result itself. */
const FRAME_SLACK_BYTES = 64 * 1024;
/** The largest JSON of a frame: a request with its headers. Results come behind a frame, as raw bytes. */
export const MAX_WARM_FRAME: number = 128 * 1024;
/** The largest body of a request to the broker. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
const CPU_CHECK_MS = 50;
/** What a process may take to start on a busy machine, beside the time that the skill's own code may take. */
const START_MS = 10_000;

export interface WarmCellOptions {
  process: CellProcess;
  artifact: Artifact;
  grant: Grant;
  openBroker: OpenBroker;
  /** What the skill sees instead of its secrets; the values are those of the call. */
  placeholders?: Readonly<Record<string, string>>;
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** How far a process has come. Each frame is good for one step, and a step is made once. */
type Stage = 'starting' | 'confining' | 'loading' | 'ready';

export class WarmCell implements FaultOwner {
  readonly kind = 'cell';
  /** Resolves when the cell can be called; false: it died first. */
  readonly ready: Promise<boolean>;
  readonly #options: WarmCellOptions;
  readonly #processLogs: LogCapture;
  #stage: Stage = 'starting';
  #call: WarmCall | undefined;
  #calls = 0;
  #exit: ExitInfo | undefined;
  /** Why the skill cannot be made ready. */
  #failure: GuestReply | undefined;
  /** What of ours ended it. */
  #fault: LaunchFault | undefined;
  #settleReady!: (ready: boolean) => void;
  readonly #startDeadline: NodeJS.Timeout;

  constructor(options: WarmCellOptions) {
    this.#options = options;
    const { process, grant } = options;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    // The guest's output comes in frames; what the process itself prints only tells why it failed.
    this.#processLogs = new LogCapture(process.logs, (total) => {
      if (total > grant.limits.output) process.kill('output');
    });
    const maxPayloadBytes = Math.max(grant.limits.output, MAX_REQUEST_BYTES) + FRAME_SLACK_BYTES;
    readFrames(
      process.channel,
      { maxBytes: MAX_WARM_FRAME, maxPayloadBytes, maxFrames: Number.POSITIVE_INFINITY },
      {
        onFrame: (frame) => this.#onFrame(frame),
        onFault: (fault) => this.#onFault(fault),
        onThrown: (thrown) => this.fail(asInternal(thrown)),
      },
    );
    process.channel.on('error', () => undefined);
    // Code of the skill may run before there is a call that could run out of time.
    this.#startDeadline = setTimeout(() => this.#end('timeout'), START_MS + grant.limits.timeout);
    unattended(process.exited.then((exit) => this.#onExit(exit)));
  }

  get isReady(): boolean {
    return this.#stage === 'ready';
  }

  get isDead(): boolean {
    return this.#exit !== undefined || this.#options.process.killReason !== undefined;
  }

  /** Calls that it has served or is serving. */
  get calls(): number {
    return this.#calls;
  }

  async call(
    params: unknown,
    signal?: AbortSignal,
    { secrets = NO_SECRETS, headers, onLog }: JobExtras = {},
  ): Promise<CellReport> {
    const { process, grant } = this.#options;
    const began = performance.now();
    const start = this.#startKind();
    const call = new WarmCall(++this.#calls, {
      broker: this.#openBroker(secrets, headers),
      channel: process.channel,
      outputLimit: grant.limits.output,
      observes: grant.observe !== undefined,
      end: (reason) => this.#end(reason),
    });
    if (onLog) call.logs.listen(onLog);
    this.#call = call;
    const stopClock = this.#watchClock(signal);
    if (this.isDead) this.#settle(undefined);
    // Neither the deadline nor the caller waits for a process that takes its time to start.
    if (this.#stage !== 'ready') await Promise.race([this.ready, call.reply]);
    const text = params instanceof JsonText ? params.bytes : Buffer.from(JSON.stringify(params));
    this.#send({ t: 'call', call: call.number }, text);
    const stopCpu = this.#watchCpu(call);
    const reply = await call.reply;
    stopClock();
    stopCpu();
    return this.#report(call, { start, reply, wallMs: performance.now() - began });
  }

  /** Ends the process because of a fault of ours: the call that it serves fails by that. */
  fail({ code, message, fix }: SkillError): void {
    if (this.isDead) return;
    this.#fault = { code, message, fix };
    this.#end('protocol');
    this.#settleReady(false);
  }

  close(): void {
    this.#options.process.kill('done');
  }

  #report(
    call: WarmCall,
    { start, reply, wallMs }: { start: StartKind; reply: GuestReply | undefined; wallMs: number },
  ): CellReport {
    const { killReason } = this.#options.process;
    const isReady = this.#stage === 'ready';
    const logs = isReady ? call.logs : this.#processLogs;
    return {
      start,
      started: isReady || this.#stage === 'loading',
      reply: withDenial(reply ?? this.#failure ?? this.#limitFromExit(), call.denials),
      exit: this.#exit,
      killReason,
      fault: reply ? undefined : this.#fault,
      used: call.used,
      denied: call.denied,
      cut: call.cut,
      logs: logs.text(),
      logBytes: logs.totalBytes,
      resultBytes: call.resultBytes,
      wallMs,
      usage: { cpuMs: call.cpuMs, memoryPeakBytes: call.memoryBytes },
      fuel: call.fuel,
      hostCalls: call.hostCalls,
    };
  }

  /** Infers the limit from how the process ended, when it could not report it. Guests do not print to its streams. */
  #limitFromExit(): GuestReply | undefined {
    const { artifact } = this.#options;
    const limit = this.#exit && artifact.limitBehind?.(this.#exit, this.#processLogs.text());
    return limit && { kind: 'error', type: 'Limit', message: limit, trace: '', limit };
  }

  #openBroker(values: ReadonlyMap<string, string>, headers: JobExtras['headers']): CallBroker {
    const { grant, artifact, openBroker, placeholders = {} } = this.#options;
    return openBroker(grant, artifact.bundle, { secrets: { placeholders, values }, headers });
  }

  #startKind(): StartKind {
    if (this.#calls > 0) return 'warm';
    return this.#stage === 'ready' ? 'pool' : 'cold';
  }

  /** Deadline and cancellation; the returned function ends the watch. */
  #watchClock(signal: AbortSignal | undefined): () => void {
    const deadline = setTimeout(() => this.#end('timeout'), this.#options.grant.limits.timeout);
    const abort = (): void => this.#end('aborted');
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    return () => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
    };
  }

  /**
   * Reading the CPU time costs more than a short call does, so it begins with the first look. What was used until then
   * is not known; fuel is what counts from the first instruction on.
   */
  #watchCpu(call: WarmCall): () => void {
    const { process, grant } = this.#options;
    let atFirst: number | undefined;
    const timer = setInterval(() => {
      const { cpuMs, memoryPeakBytes } = process.usage();
      atFirst ??= cpuMs;
      call.measured({ cpuMs: cpuMs - atFirst, memoryPeakBytes });
      if (cpuMs - atFirst > grant.limits.cpu + CPU_CHECK_MS) this.#end('cpu');
    }, CPU_CHECK_MS);
    return () => clearInterval(timer);
  }

  /** The caller need not wait for the process to be gone: without its broker it reaches nothing any more. */
  #end(reason: KillReason): void {
    this.#options.process.kill(reason);
    this.#settle(undefined);
  }

  #settle(reply: GuestReply | undefined): void {
    const call = this.#call;
    // At once: what comes with the same chunk of bytes belongs to no call any more.
    this.#call = undefined;
    call?.settle(reply);
  }

  #onFrame(frame: GuestFrame): void {
    const { body } = frame;
    if (this.#options.process.killReason !== undefined) return undefined;
    if (this.#stage === 'starting' && body['t'] === 'ready')
      return unattended(this.#confine(body), () => this.#options.process.kill('protocol'));
    if (this.#stage === 'loading' && body['t'] === 'loaded') return this.#becomeReady(frame.payload);
    if (this.#stage === 'loading' && body['t'] === 'failed') return this.#onFailed(body);
    if (this.#stage !== 'ready' || !this.#call) return this.#onFault(outOfOrder(body));
    const verdict = this.#call.onFrame(frame);
    if (verdict === 'broken') return this.#onFault(outOfOrder(body));
    if (verdict?.reply.kind === 'broken')
      return this.#onFault({ kind: 'malformed', message: verdict.reply.message });
    return verdict === undefined ? undefined : this.#settle(verdict.reply);
  }

  async #confine(ready: Record<string, unknown>): Promise<void> {
    const { process, artifact, grant, placeholders } = this.#options;
    this.#stage = 'confining';
    // No byte of the skill has been read yet, and none will be before every limit is in place.
    if (!(await confined(process, ready))) return process.kill('protocol');
    this.#stage = 'loading';
    this.#send({ t: 'init', ...artifact.init({ ...grant, env: { ...grant.env, ...placeholders } }) });
  }

  #becomeReady(handedOver: Buffer | undefined): void {
    const { artifact, grant } = this.#options;
    this.#stage = 'ready';
    clearTimeout(this.#startDeadline);
    this.#settleReady(true);
    if (handedOver) artifact.keep?.(grant, handedOver);
  }

  /** The skill cannot be made ready, e.g. because it imports what no cell has. */
  #onFailed(body: Record<string, unknown>): void {
    this.#failure = asError(body);
    this.#end('done');
  }

  #onFault(fault: FrameFault): void {
    if (fault.kind === 'too_large') return this.#end('output');
    this.#options.process.kill('protocol');
    return this.#settle({ kind: 'broken', message: fault.message });
  }

  async #onExit(exit: ExitInfo): Promise<void> {
    this.#exit = exit;
    clearTimeout(this.#startDeadline);
    // What the cell sent before it died may still be on its way.
    await ended(this.#options.process.channel);
    await this.#processLogs.settle();
    this.#settleReady(false);
    this.#settle(undefined);
  }

  #send(body: Record<string, unknown>, payload?: Uint8Array): void {
    const { channel } = this.#options.process;
    if (!this.isDead && channel.writable) channel.write(encodeFrame(body, payload));
  }
}

function outOfOrder(body: Record<string, unknown>): FrameFault {
  return { kind: 'malformed', message: `a frame "${String(body['t']).slice(0, 20)}" out of order` };
}
