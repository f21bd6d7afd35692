/**
 * One cell for one call: waits for the harness, confines it, sends the call, and reports what came back.
 *
 * @module
 */
import type { CapabilityFields, FrameOf, ToSingleUse, Unchecked } from '../../../guest/protocol.ts';
import { cellReport } from './report.ts';
import { unattended, type SkillError } from '../../errors.ts';
import { toInternalError, type FaultOwner } from '../../fault-owner.ts';
import type { Duplex } from 'node:stream';
import type { CapabilityEvent, StartKind } from '../../outcome.ts';
import type { Grant } from '../../policy/grant.ts';
import type {
  Artifact,
  Cell,
  CellGateway,
  CellProcess,
  CellReport,
  ExitInfo,
  GuestReply,
  JobExtras,
  LaunchFault,
  OpenSkills,
} from '../contract.ts';
import { cutOf, EventList } from './event-list.ts';
import { singleUseKind } from './frame-kinds.ts';
import {
  encodeCall,
  encodeFrame,
  readFrames,
  type FrameFault,
  type GuestFrame,
  type LargeReply,
} from './frames.ts';
import { asError, asEvent, unknownName, type ErrorReply } from './guest-frames.ts';
import { endOf, LogCapture } from './log-capture.ts';
import { EventCount, frameLimits, MAX_USED } from './single-use-limits.ts';
import { withDenial } from './with-denial.ts';
import { SkillAsks } from './skill-asks.ts';

/** Above this, a status means a launcher or a signal. */
const MAX_PROGRAM_STATUS = 124;
/** Bounds the wait for the end of a channel, which is immediate unless the host is overloaded. */
const DRAIN_MS = 500;

export interface SessionOptions {
  process: CellProcess;
  artifact: Pick<Artifact, 'init' | 'limitBehind' | 'failsByExit' | 'isCommand'>;
  grant: Grant;
  start: StartKind;
  /** Whether to run the module body before the call. Only if that has no effect outside the cell. */
  preload: boolean;
  /** The gateway of this cell; absent if its grant names no hosts. */
  gateway?: CellGateway | undefined;
  /** Placeholders that the skill sees instead of its secrets; the values come with the call. */
  placeholders?: Readonly<Record<string, string>>;
  /** Opens its calls of skills; absent: it may make none. */
  openSkills?: OpenSkills;
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

export class Session implements Cell, FaultOwner {
  readonly kind = 'cell';
  /** Resolves to true when the cell is ready for its call, to false if it died first. Never rejects. */
  readonly ready: Promise<boolean>;
  readonly #options: SessionOptions;
  readonly #logs: LogCapture;
  readonly #denied = new EventList();
  readonly #used: CapabilityEvent[] = [];
  readonly #reply: Promise<GuestReply | undefined>;
  #exit: ExitInfo | undefined;
  #fault: LaunchFault | undefined;
  #resultBytes = 0;
  #isHarnessReady = false;
  #started = false;
  #isReady = false;
  /** Its calls of skills; absent until the call, and if the grant has none. */
  #asks: SkillAsks | undefined;
  readonly #events: EventCount;
  #isCalled = false;
  #settleReady!: (ready: boolean) => void;
  #settleReply!: (reply: GuestReply | undefined) => void;
  #startDeadline: NodeJS.Timeout;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { process, grant } = options;
    this.#events = new EventCount(grant);
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    this.#reply = new Promise((resolve) => (this.#settleReply = resolve));
    const onBytes = (total: number): void => {
      if (total > grant.limits.output) process.kill('output');
    };
    const { isCommand } = options.artifact;
    this.#logs = new LogCapture(process.logs, onBytes, isCommand ? grant.limits.output : undefined);
    readFrames(process.channel, frameLimits(grant), {
      onFrame: (frame) => this.#onFrame(frame),
      onLargeReply: (reply) => this.#onLargeReply(reply),
      onFault: (fault) => this.#onFault(fault),
      onThrown: (thrown) => this.fail(toInternalError(thrown)),
    });
    process.channel.on('error', () => undefined);
    this.#startDeadline = setTimeout(() => process.kill('timeout'), grant.limits.timeout);
    unattended(process.exited.then((exit) => this.#onExit(exit)));
  }

  /** True while the cell is alive and waits for its call. */
  get isReady(): boolean {
    return this.#isReady && this.#exit === undefined;
  }

  get isDead(): boolean {
    return this.#exit !== undefined || this.#options.process.killReason !== undefined;
  }

  /** Memory that its process holds. */
  get bytes(): number {
    return this.#options.process.privateBytes?.() ?? 0;
  }

  get exited(): Promise<ExitInfo> {
    return this.#options.process.exited;
  }

  async call(
    params: unknown,
    signal?: AbortSignal,
    { secrets = NO_SECRETS, headers, onLog, command, inner }: JobExtras = {},
  ): Promise<CellReport> {
    const { process, grant, gateway } = this.#options;
    gateway?.arm(secrets, headers);
    if (onLog) this.#logs.listen(onLog);
    const startedAt = performance.now();
    clearTimeout(this.#startDeadline);
    const deadline = setTimeout(() => process.kill('timeout'), grant.limits.timeout);
    const abort = (): void => process.kill('aborted');
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    if (await this.ready) {
      this.#isCalled = true;
      process.rest?.(false);
      this.#openAsks(inner);
      this.#write(encodeCall(params, command));
    }
    const reply = await this.#reply;
    const wallMs = performance.now() - startedAt;
    clearTimeout(deadline);
    signal?.removeEventListener('abort', abort);
    return this.#report(reply, wallMs);
  }

  /** Kills the cell because of an internal error. The call fails with that error, regardless of the skill's reply. */
  fail({ code, message, fix }: SkillError): void {
    if (this.isDead) return;
    this.#fault = { code, message, fix };
    this.#options.process.kill('protocol');
    this.#settleReady(false);
    this.#settle(undefined);
  }

  discard(): void {
    this.#options.process.kill('done');
  }

  async #report(reply: GuestReply | undefined, wallMs: number): Promise<CellReport> {
    const { process, start, grant, gateway } = this.#options;
    // The call is over, so block further requests.
    gateway?.close();
    await this.#logs.settle();
    const usage = process.usage();
    const killReason = process.killReason;
    if (reply) process.kill('done');
    // Processes of the skill may still be writing, so report only after all of them are gone.
    if (actsOutside(grant)) await process.exited;
    return cellReport({
      start,
      started: this.#started,
      reply: withDenial(reply ?? this.#limitFromExit() ?? this.#failureFromExit(), {
        byHost: this.#byHost('denied'),
        inside: this.#denied.kept,
      }),
      exit: this.#exit,
      killReason,
      fault: reply ? undefined : this.#faultOf(process),
      used: [...this.#byHost('used'), ...this.#used],
      denied: [...this.#byHost('denied'), ...this.#denied.kept],
      cut: cutOf([gateway, this.#asks?.broker], this.#denied),
      failedInside: this.#asks?.broker.failedInside,
      // The output of a command that ended is in its result.
      logs: reply?.kind === 'ended' ? '' : this.#logs.text(),
      logBytes: this.#logs.totalBytes,
      resultBytes: this.#resultBytes,
      wallMs,
      usage,
      hostCalls: this.#asks?.count ?? 0,
    });
  }

  /** What the gateway and the broker saw. */
  #byHost(list: 'used' | 'denied'): CapabilityEvent[] {
    return [...(this.#options.gateway?.[list] ?? []), ...(this.#asks?.broker[list] ?? [])];
  }

  #faultOf(process: CellProcess): LaunchFault | undefined {
    return this.#fault ?? process.fault?.({ started: this.#started, logs: this.#logs.text() });
  }

  /** Infers the limit from the exit status when the guest could not report it. */
  #limitFromExit(): GuestReply | undefined {
    const { artifact } = this.#options;
    const limit = this.#exit && artifact.limitBehind?.(this.#exit, this.#logs.text());
    return limit && { kind: 'error', type: 'Limit', message: limit, trace: '', limit };
  }

  /** A failing status after a denial that only the gateway saw: the program did not handle the denial. */
  #failureFromExit(): GuestReply | undefined {
    const { artifact, gateway, process } = this.#options;
    const code = this.#exit?.code ?? 0;
    const wasKilled = process.killReason !== undefined || code > MAX_PROGRAM_STATUS;
    if (!artifact.failsByExit || !gateway?.denied.length || code === 0 || wasKilled) return undefined;
    return { kind: 'error', type: 'Exit', message: `exit code ${code}`, trace: '' };
  }

  #onFrame(frame: GuestFrame): void {
    const kind = singleUseKind(frame.body);
    if (!this.#events.allows(kind, frame)) return this.#refuse('too many frames');
    switch (kind) {
      case 'ask':
        return this.#onAsk(frame);
      case 'ready':
        return unattended(this.#onHarnessReady(), () => this.#options.process.kill('protocol'));
      case 'loaded':
        return this.#becomeReady();
      case 'denied':
      case 'used':
        return this.#onEvent(kind, frame.body);
      case 'result':
        return this.#onResult(frame);
      case 'error':
        return this.#onError(asError(frame.body));
      case undefined:
        return this.#refuse('a frame of unknown kind');
      default:
        return kind satisfies never;
    }
  }

  #openAsks(inner: JobExtras['inner']): void {
    const { grant, openSkills, process } = this.#options;
    if (grant.skills && openSkills && !this.isDead)
      this.#asks = new SkillAsks(openSkills(grant, inner), process.channel);
  }

  /** Only the running call may ask; what comes after its reply is read and dropped. */
  #onAsk(frame: GuestFrame): void {
    if (!this.#asks) return this.#refuse('a request that this cell may not make');
    if (this.#asks.take(frame)) return;
    this.#settle({
      kind: 'error',
      type: 'Limit',
      message: 'too many requests',
      trace: '',
      limit: 'host_calls',
    });
    // While it lives.
    this.#options.process.usage();
    this.#options.process.kill('done');
  }

  #onEvent(kind: 'denied' | 'used', body: Unchecked<CapabilityFields>): void {
    const event = asEvent(body, kind);
    if (!event) return this.#refuse(unknownName('capability', body.capability));
    if (kind === 'denied') this.#denied.add(event);
    const observes = kind === 'used' && this.#options.grant.observe;
    if (observes && this.#used.length < MAX_USED) this.#used.push(event);
  }

  #onError(reply: ErrorReply): void {
    if (reply.kind === 'broken') return this.#refuse(reply.message);
    // A command ends with its exit status. It may only say first which limit it hit.
    if (this.#options.artifact.isCommand && !reply.limit) return this.#refuse('a reply of a command');
    return this.#answer(reply);
  }

  #refuse(message: string): void {
    this.#onFault({ kind: 'malformed', message });
  }

  #onResult({ body, bytes, payload, warnings }: GuestFrame): void {
    if (this.#options.artifact.isCommand) return this.#refuse('a reply of a command');
    this.#resultBytes = bytes;
    if (payload) return this.#answer({ kind: 'unread', form: 'value', bytes: payload });
    // A missing result means null, as for every other reader.
    return this.#answer({ kind: 'result', value: body['value'] ?? null, warnings });
  }

  #onLargeReply({ kind, json }: LargeReply): void {
    if (this.#options.artifact.isCommand) return this.#refuse('a reply of a command');
    if (kind === 'result') this.#resultBytes = json.length;
    this.#answer({ kind: 'unread', form: kind, bytes: json });
  }

  async #onHarnessReady(): Promise<void> {
    // Accepted only once, because from here on the sender may be the skill's own code.
    if (this.#isHarnessReady) return;
    this.#isHarnessReady = true;
    const { process, artifact, grant, preload, placeholders = {} } = this.#options;
    // No skill code has run yet, and none will before every limit is in place.
    if (!(await tryConfine(process))) return process.kill('protocol');
    this.#started = true;
    this.#send({ t: 'init', ...artifact.init(grant), preload, env: placeholders });
    if (!preload) this.#becomeReady();
  }

  #becomeReady(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#options.process.rest?.(true);
    clearTimeout(this.#startDeadline);
    this.#settleReady(true);
  }

  #answer(reply: GuestReply): void {
    // A reply before the call was sent answers nothing.
    if (this.#isReady) this.#settle(reply);
    else this.#refuse('a reply before the call');
  }

  #onFault(fault: FrameFault): void {
    const { process } = this.#options;
    if (fault.kind === 'too_large') return process.kill('output');
    this.#settle({ kind: 'broken', message: fault.message });
    this.#settleReady(true);
    process.kill('protocol');
  }

  async #onExit(exit: ExitInfo): Promise<void> {
    this.#exit = exit;
    this.#options.gateway?.close();
    clearTimeout(this.#startDeadline);
    this.#asks?.end();
    // Frames that the guest sent before it died may not have been read yet.
    await drained(this.#options.process.channel);
    this.#settleReady(false);
    this.#settle(await this.#endedCommand(exit));
  }

  /** Settles the call; only the first reply counts. No requests are served from here on. */
  #settle(reply: GuestReply | undefined): void {
    this.#asks?.end();
    this.#settleReply(reply);
  }

  /** The result of a command, from what the host saw. Undefined if it was killed, or is no command. */
  async #endedCommand({ code }: ExitInfo): Promise<GuestReply | undefined> {
    const { artifact, process } = this.#options;
    if (!artifact.isCommand || !this.#isCalled || code === null) return undefined;
    await this.#logs.ended();
    if (process.killReason !== undefined) return undefined;
    const [stdout, stderr] = [this.#logs.bytesOf('stdout'), this.#logs.bytesOf('stderr')];
    return { kind: 'ended', exitCode: code, stdout, stderr };
  }

  #send(body: FrameOf<ToSingleUse>): void {
    this.#write(encodeFrame(body));
  }

  #write(frame: Buffer): void {
    const { channel } = this.#options.process;
    if (channel.writable) channel.write(frame);
  }
}

/** Resolves when the channel has been read to its end, which is soon, because all processes at the other end are dead. */
export async function drained(channel: Duplex): Promise<void> {
  await endOf(channel, DRAIN_MS);
}

/** Returns false if the process cannot be confined; it must not be used then. */
export async function tryConfine(process: CellProcess): Promise<boolean> {
  try {
    return await process.confine();
  } catch {
    return false;
  }
}

function actsOutside({ filesystem, limits }: Grant): boolean {
  return limits.processes > 0 || filesystem.some((path) => path.access === 'read-write');
}
