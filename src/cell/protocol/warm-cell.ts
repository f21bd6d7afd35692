/**
 * A process that serves one call at a time, each in a fresh instance, so that no state of a call survives. After a
 * timeout, an exceeded process limit or a protocol violation, it is killed and not used again.
 *
 * @module
 */
import type { FailureFields, FrameOf, ToReusable, Unchecked } from '../../../guest/protocol.ts';
import { cellReport } from './report.ts';
import { unattended, type SkillError } from '../../errors.ts';
import { toInternalError, type FaultOwner } from '../../fault-owner.ts';
import type { StartKind } from '../../outcome.ts';
import type { Grant } from '../../policy/grant.ts';
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
} from '../contract.ts';
import { reusableKind } from './frame-kinds.ts';
import { encodeFrame, encodeParams, readFrames, type FrameFault, type GuestFrame } from './frames.ts';
import { asError } from './guest-frames.ts';
import { LogCapture } from './log-capture.ts';
import { tryConfine, drained } from './session.ts';
import { WarmCall } from './warm-call.ts';
import { withDenial } from './with-denial.ts';

/** Room behind a frame in addition to the result itself. */
const FRAME_SLACK_BYTES = 64 * 1024;
/** The largest JSON of a frame: a request with its headers. Results follow a frame as raw bytes. */
export const MAX_WARM_FRAME: number = 128 * 1024;
/** The largest body of a request to the broker. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
const CPU_CHECK_MS = 50;
/** Time to start a process on a busy machine, in addition to the timeout for the skill's own code. */
const START_MS = 10_000;

export interface WarmCellOptions {
  process: CellProcess;
  artifact: Artifact;
  grant: Grant;
  openBroker: OpenBroker;
  /** Placeholders that the skill sees instead of its secrets; the values come with the call. */
  placeholders?: Readonly<Record<string, string>>;
  /** The process waited for a skill, with every limit in place. */
  wasWaiting?: boolean;
  /** What an earlier process handed over for this one. */
  saved?: Promise<Uint8Array | undefined> | undefined;
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** Start-up stage of the process. Each stage is entered once, and each accepts only one kind of frame. */
type Stage = 'starting' | 'confining' | 'loading' | 'ready';

export class WarmCell implements FaultOwner {
  readonly kind = 'cell';
  /** Resolves to true when the cell can be called, to false if it died first. */
  readonly ready: Promise<boolean>;
  readonly #options: WarmCellOptions;
  readonly #processLogs: LogCapture;
  #stage: Stage = 'starting';
  #call: WarmCall | undefined;
  #calls = 0;
  readonly #createdAt = performance.now();
  #startMs: number | undefined;
  #exit: ExitInfo | undefined;
  /** Why the skill could not be loaded. */
  #failure: GuestReply | undefined;
  /** The internal error that ended the process. */
  #fault: LaunchFault | undefined;
  #settleReady!: (ready: boolean) => void;
  readonly #startDeadline: NodeJS.Timeout;

  constructor(options: WarmCellOptions) {
    this.#options = options;
    const { process, grant } = options;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    // The guest's output arrives in frames; the output of the process itself only explains why it failed.
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
        onThrown: (thrown) => this.fail(toInternalError(thrown)),
      },
    );
    process.channel.on('error', () => undefined);
    // The skill's module body may run before a call with its own timeout exists.
    this.#startDeadline = setTimeout(() => this.#end('timeout'), START_MS + grant.limits.timeout);
    unattended(process.exited.then((exit) => this.#onExit(exit)));
    if (options.wasWaiting) unattended(this.#load(), () => process.kill('protocol'));
  }

  get isReady(): boolean {
    return this.#stage === 'ready';
  }

  get isDead(): boolean {
    return this.#exit !== undefined || this.#options.process.killReason !== undefined;
  }

  /** Memory that its process holds. */
  get bytes(): number {
    return this.#options.process.privateBytes?.() ?? 0;
  }

  /** Milliseconds from its creation until it could be called; undefined until then. */
  get startMs(): number | undefined {
    return this.#startMs;
  }

  /** Whether its process waited for a skill and died before it had one, so that the call can safely run in another. */
  get diedWaiting(): boolean {
    const { process, wasWaiting } = this.#options;
    const isUnexplained = process.killReason === undefined && this.#failure === undefined;
    return wasWaiting === true && this.#exit !== undefined && this.#startMs === undefined && isUnexplained;
  }

  /** Number of calls served, including the current one. */
  get calls(): number {
    return this.#calls;
  }

  async call(
    params: unknown,
    signal?: AbortSignal,
    { secrets = NO_SECRETS, headers, onLog, command, inner }: JobExtras = {},
  ): Promise<CellReport> {
    const { process, grant, artifact } = this.#options;
    const startedAt = performance.now();
    const start = this.#startKind();
    const call = new WarmCall(++this.#calls, {
      broker: this.#openBroker(secrets, { headers, inner }),
      channel: process.channel,
      outputLimit: grant.limits.output,
      observes: grant.observe !== undefined,
      isCommand: artifact.isCommand === true,
      end: (reason) => this.#end(reason),
    });
    if (onLog) call.logs.listen(onLog);
    this.#call = call;
    process.rest?.(false);
    const stopClock = this.#watchClock(signal);
    if (this.isDead) this.#settle(undefined);
    // The timeout and a cancellation also end the wait for a process that is slow to start.
    if (this.#stage !== 'ready') await Promise.race([this.ready, call.reply]);
    this.#send({ t: 'call', call: call.number }, encodeParams(params, command));
    const stopCpu = this.#watchCpu(call);
    const reply = await call.reply;
    stopClock();
    stopCpu();
    return this.#report(call, { start, reply, wallMs: performance.now() - startedAt });
  }

  /** Kills the process because of an internal error, which also fails the current call. */
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
    return cellReport({
      start,
      started: isReady || this.#stage === 'loading',
      reply: withDenial(reply ?? this.#failure ?? this.#limitFromExit(), call.denials),
      exit: this.#exit,
      killReason,
      fault: reply ? undefined : this.#fault,
      used: call.used,
      denied: call.denied,
      cut: call.cut,
      failedInside: call.failedInside,
      // The output of a command that ended is in its result.
      logs: reply?.kind === 'ended' ? '' : logs.text(),
      logBytes: logs.totalBytes,
      resultBytes: call.resultBytes,
      wallMs,
      usage: { cpuMs: call.cpuMs, memoryPeakBytes: call.memoryBytes },
      includesEngine: true,
      fuel: call.fuel,
      hostCalls: call.hostCalls,
    });
  }

  /** Infers the limit from the exit status when the process could not report it. Guests cannot write to these logs. */
  #limitFromExit(): GuestReply | undefined {
    const { artifact } = this.#options;
    const limit = this.#exit && artifact.limitBehind?.(this.#exit, this.#processLogs.text());
    return limit && { kind: 'error', type: 'Limit', message: limit, trace: '', limit };
  }

  #openBroker(values: ReadonlyMap<string, string>, extras: Pick<JobExtras, 'headers' | 'inner'>): CallBroker {
    const { grant, artifact, openBroker, placeholders = {} } = this.#options;
    return openBroker(grant, artifact.bundle, { secrets: { placeholders, values }, ...extras });
  }

  #startKind(): StartKind {
    if (this.#calls > 0) return 'warm';
    return this.#stage === 'ready' || this.#options.wasWaiting ? 'pool' : 'cold';
  }

  /** Watches the timeout and cancellation; the returned function stops the watch. */
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
   * Reading the CPU time costs more than a short call, so it starts with the first check. The time used before that is
   * unknown; fuel is counted from the first instruction.
   */
  #watchCpu(call: WarmCall): () => void {
    const { process, grant } = this.#options;
    let firstCpuMs: number | undefined;
    const timer = setInterval(() => {
      const { cpuMs, memoryPeakBytes } = process.usage();
      firstCpuMs ??= cpuMs;
      call.recordUsage({ cpuMs: cpuMs - firstCpuMs, memoryPeakBytes });
      if (cpuMs - firstCpuMs > grant.limits.cpu + CPU_CHECK_MS) this.#end('cpu');
    }, CPU_CHECK_MS);
    return () => clearInterval(timer);
  }

  /** The caller need not wait for the exit: without its broker, the process can reach nothing. */
  #end(reason: KillReason): void {
    this.#options.process.kill(reason);
    this.#settle(undefined);
  }

  #settle(reply: GuestReply | undefined): void {
    const call = this.#call;
    // Cleared first, because later frames in the same chunk no longer belong to a call.
    this.#call = undefined;
    if (call && this.#stage === 'ready') this.#options.process.rest?.(true);
    call?.settle(reply);
  }

  #onFrame(frame: GuestFrame): void {
    const { body } = frame;
    const kind = reusableKind(body);
    if (this.#options.process.killReason !== undefined) return undefined;
    if (this.#stage === 'starting' && kind === 'ready')
      return unattended(this.#confine(), () => this.#options.process.kill('protocol'));
    if (this.#stage === 'loading' && kind === 'loaded') return this.#becomeReady(frame.payload);
    if (this.#stage === 'loading' && kind === 'failed') return this.#onFailed(body);
    if (this.#stage !== 'ready' || !this.#call) return this.#onFault(outOfOrder(body));
    const verdict = this.#call.onFrame(frame);
    if (verdict === 'broken') return this.#onFault(outOfOrder(body));
    if (verdict?.reply.kind === 'broken')
      return this.#onFault({ kind: 'malformed', message: verdict.reply.message });
    if (verdict === undefined) return;
    this.#settle(verdict.reply);
    // The process is about to exit or cannot go on, so it must not get another call.
    if ((kind === 'ended' || kind === 'error') && body['exits'] === true) this.#options.process.kill('done');
  }

  async #confine(): Promise<void> {
    const { process } = this.#options;
    this.#stage = 'confining';
    // The skill is not read before every limit is in place.
    if (!(await tryConfine(process))) return process.kill('protocol');
    await this.#load();
  }

  async #load(): Promise<void> {
    const { process, artifact, grant, placeholders } = this.#options;
    const saved = await this.#options.saved;
    this.#stage = 'loading';
    process.rest?.(false);
    this.#send({ t: 'init', ...artifact.init({ ...grant, env: { ...grant.env, ...placeholders } }) }, saved);
  }

  #becomeReady(image: Buffer | undefined): void {
    const { artifact, grant } = this.#options;
    this.#stage = 'ready';
    this.#startMs = performance.now() - this.#createdAt;
    this.#options.process.rest?.(this.#call === undefined);
    clearTimeout(this.#startDeadline);
    this.#settleReady(true);
    if (image) artifact.keep?.(grant, image);
  }

  /** The skill could not be loaded, e.g. because of a missing module. */
  #onFailed(body: Unchecked<FailureFields>): void {
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
    // Frames that the cell sent before it died may not have been read yet.
    await drained(this.#options.process.channel);
    await this.#processLogs.settle();
    this.#settleReady(false);
    this.#settle(undefined);
  }

  #send(body: FrameOf<ToReusable>, payload?: Uint8Array): void {
    const { channel } = this.#options.process;
    if (!this.isDead && channel.writable) channel.write(encodeFrame(body, payload));
  }
}

function outOfOrder(body: Record<string, unknown>): FrameFault {
  return { kind: 'malformed', message: `a frame "${String(body['t']).slice(0, 20)}" out of order` };
}
