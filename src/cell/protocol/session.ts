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
  Denials,
  Explained,
  ExitInfo,
  GuestReply,
  JobExtras,
  LaunchFault,
} from '../contract.ts';
import { cutOf, EventList } from './event-list.ts';
import { singleUseKind } from './frame-kinds.ts';
import {
  encodeCall,
  encodeFrame,
  readFrames,
  type FrameFault,
  type FrameLimits,
  type GuestFrame,
  type LargeReply,
} from './frames.ts';
import { asError, asEvent, unknownName, type ErrorReply } from './guest-frames.ts';
import { endOf, LogCapture } from './log-capture.ts';

/** Room in a frame in addition to the result itself. */
const FRAME_SLACK_BYTES = 64 * 1024;
export const MAX_FRAMES = 256;
/** Limit for all frames of a call except its reply; larger than all denials that are kept. */
export const MAX_EVENT_BYTES: number = 256 * 1024;
/** Maximum number of uses that the harness reports while the needs of a skill are recorded. */
const MAX_USED = 4096;
const MAX_USED_BYTES = 4 * 1024 * 1024;
/** Bounds the wait for the end of a channel, which is immediate unless the host is overloaded. */
const DRAIN_MS = 500;

export interface SessionOptions {
  process: CellProcess;
  artifact: Pick<Artifact, 'init' | 'limitBehind' | 'isCommand'>;
  grant: Grant;
  start: StartKind;
  /** Whether to run the module body before the call. Only if that has no effect outside the cell. */
  preload: boolean;
  /** The gateway of this cell; absent if its grant names no hosts. */
  gateway?: CellGateway | undefined;
  /** Placeholders that the skill sees instead of its secrets; the values come with the call. */
  placeholders?: Readonly<Record<string, string>>;
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
  #isCalled = false;
  #settleReady!: (ready: boolean) => void;
  #settleReply!: (reply: GuestReply | undefined) => void;
  #startDeadline: NodeJS.Timeout;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { process, grant } = options;
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

  get exited(): Promise<ExitInfo> {
    return this.#options.process.exited;
  }

  async call(
    params: unknown,
    signal?: AbortSignal,
    { secrets = NO_SECRETS, headers, onLog, command }: JobExtras = {},
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
    this.#settleReply(undefined);
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
      reply: withDenial(reply ?? this.#limitFromExit(), {
        byHost: gateway?.denied ?? [],
        inside: this.#denied.kept,
      }),
      exit: this.#exit,
      killReason,
      fault: reply ? undefined : this.#faultOf(process),
      used: [...(gateway?.used ?? []), ...this.#used],
      denied: [...(gateway?.denied ?? []), ...this.#denied.kept],
      cut: cutOf(gateway, this.#denied),
      // The output of a command that ended is in its result.
      logs: reply?.kind === 'ended' ? '' : this.#logs.text(),
      logBytes: this.#logs.totalBytes,
      resultBytes: this.#resultBytes,
      wallMs,
      usage,
    });
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

  #onFrame(frame: GuestFrame): void {
    const kind = singleUseKind(frame.body);
    switch (kind) {
      case 'ready':
        return unattended(this.#onHarnessReady(frame.body), () => this.#options.process.kill('protocol'));
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
        return this.#onFault({ kind: 'malformed', message: 'a frame of unknown kind' });
      default:
        return kind satisfies never;
    }
  }

  #onEvent(kind: 'denied' | 'used', body: Unchecked<CapabilityFields>): void {
    const event = asEvent(body, kind);
    if (!event)
      return this.#onFault({ kind: 'malformed', message: unknownName('capability', body.capability) });
    if (kind === 'denied') this.#denied.add(event);
    const observes = kind === 'used' && this.#options.grant.observe;
    if (observes && this.#used.length < MAX_USED) this.#used.push(event);
  }

  #onError(reply: ErrorReply): void {
    if (reply.kind === 'broken') return this.#onFault({ kind: 'malformed', message: reply.message });
    // A command ends with its exit status. It may only say first which limit it hit.
    if (this.#options.artifact.isCommand && !reply.limit) return this.#refuseReply();
    return this.#answer(reply);
  }

  #refuseReply(): void {
    this.#onFault({ kind: 'malformed', message: 'a reply of a command' });
  }

  #onResult({ body, bytes, payload, warnings }: GuestFrame): void {
    if (this.#options.artifact.isCommand) return this.#refuseReply();
    this.#resultBytes = bytes;
    if (payload) return this.#answer({ kind: 'unread', form: 'value', bytes: payload });
    // A missing result means null, as for every other reader.
    return this.#answer({ kind: 'result', value: body['value'] ?? null, warnings });
  }

  #onLargeReply({ kind, json }: LargeReply): void {
    if (this.#options.artifact.isCommand) return this.#refuseReply();
    if (kind === 'result') this.#resultBytes = json.length;
    this.#answer({ kind: 'unread', form: kind, bytes: json });
  }

  async #onHarnessReady(body: Record<string, unknown>): Promise<void> {
    // Accepted only once, because from here on the sender may be the skill's own code.
    if (this.#isHarnessReady) return;
    this.#isHarnessReady = true;
    const { process, artifact, grant, preload, placeholders = {} } = this.#options;
    // No skill code has run yet, and none will before every limit is in place.
    if (!(await tryConfine(process, body))) return process.kill('protocol');
    this.#started = true;
    this.#send({ t: 'init', ...artifact.init(grant), preload, env: placeholders });
    if (!preload) this.#becomeReady();
  }

  #becomeReady(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    clearTimeout(this.#startDeadline);
    this.#settleReady(true);
  }

  #answer(reply: GuestReply): void {
    // A reply before the call was sent answers nothing.
    if (this.#isReady) this.#settleReply(reply);
    else this.#onFault({ kind: 'malformed', message: 'a reply before the call' });
  }

  #onFault(fault: FrameFault): void {
    const { process } = this.#options;
    if (fault.kind === 'too_large') return process.kill('output');
    this.#settleReply({ kind: 'broken', message: fault.message });
    this.#settleReady(true);
    process.kill('protocol');
  }

  async #onExit(exit: ExitInfo): Promise<void> {
    this.#exit = exit;
    this.#options.gateway?.close();
    clearTimeout(this.#startDeadline);
    // Frames that the guest sent before it died may not have been read yet.
    await drained(this.#options.process.channel);
    this.#settleReady(false);
    this.#settleReply(await this.#endedCommand(exit));
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

function frameLimits({ limits, observe }: Grant): FrameLimits {
  return {
    maxReplyBytes: limits.output + FRAME_SLACK_BYTES,
    maxPayloadBytes: limits.output + FRAME_SLACK_BYTES,
    maxFrames: MAX_FRAMES + (observe ? MAX_USED : 0),
    maxTotalBytes: MAX_EVENT_BYTES + (observe ? MAX_USED_BYTES : 0),
  };
}

/** Resolves when the channel has been read to its end, which is soon, because all processes at the other end are dead. */
export async function drained(channel: Duplex): Promise<void> {
  await endOf(channel, DRAIN_MS);
}

/** Returns false if the process cannot be confined; it must not be used then. */
export async function tryConfine(process: CellProcess, ready: Record<string, unknown>): Promise<boolean> {
  try {
    return await process.confine(ready);
  } catch {
    return false;
  }
}

/** Attributes a failure of the skill to the last denial, unless the guest has ruled that out. */
export function withDenial(reply: GuestReply | undefined, denials: Denials): GuestReply | undefined {
  // Decided after the reply has been read.
  if (reply?.kind === 'unread') return { ...reply, denials };
  const { byHost, inside } = denials;
  if (reply?.kind !== 'error' || reply.limit) return reply;
  // The guest may say which denial caused the failure, but its details come from where it was recorded.
  const known = [...byHost, ...inside].find(({ asked }) => asked === reply.denied?.asked);
  const denied = known ?? suspects(reply.explained, { byHost, inside }).at(-1);
  return denied ? { ...reply, denied } : reply;
}

function suspects(explained: Explained | undefined, { byHost, inside }: Denials): CapabilityEvent[] {
  if (explained === 'wholly') return [];
  return explained === 'inside' ? byHost : [...byHost, ...inside];
}

function actsOutside({ filesystem, limits }: Grant): boolean {
  return limits.processes > 0 || filesystem.some((path) => path.access === 'read-write');
}
