/**
 * Turns the report of a cell into a verdict. Pure: the same report always gets the same code.
 *
 * @module
 */
import { constants } from 'node:os';
import { SkillError } from '../../errors.ts';
import type { CapabilityEvent } from '../../outcome.ts';
import { formatLimit } from '../../manifest/units.ts';
import type { Grant, GrantedLimits, Withheld } from '../../policy/grant.ts';
import { GUEST_WORKSPACE } from '../../policy/guest-paths.ts';
import { hostCovers } from '../../policy/patterns.ts';
import {
  FIXED_LIMIT_ROWS,
  isDeclaredLimit,
  LIMITS,
  type DeclaredLimit,
  type HostLimit,
  type LimitName,
} from '../../vocabulary/limits.ts';
import type { CellReport, ExitInfo, GuestReply } from '../contract.ts';
import { MAX_JSON_DEPTH, TOO_DEEP } from '../protocol/guest-json.ts';
import { fixForDenial } from './denial-fix.ts';
import { failedInside } from './failed-inside.ts';
import { fixForLimit } from './limit-fix.ts';
import { missingModule, missingPackage, missingWorkspace, placeIn } from './raised-fix.ts';
import { NO_SITUATION, type Situation } from './situation.ts';

export interface Verdict {
  result: unknown;
  warnings: string[];
  /** Where the result does not match `outputs` in the manifest. */
  problems: string[];
}

/** Returns the result, or throws the error of the call. */
export function judge(report: CellReport, grant: Grant, situation: Situation = NO_SITUATION): Verdict {
  const { reply, killReason } = report;
  if (killReason === 'aborted') throw cancelled();
  if (killReason && killReason !== 'done' && killReason !== 'protocol')
    throw exceededError(killReason, grant.limits, situation);
  if (reply === undefined) throw noReplyError(report, grant, situation);
  if (reply.kind === 'broken') throw brokenProtocolError(reply.message);
  if (reply.kind === 'unread') throw new TypeError('A reply must be read before it is judged');
  if (reply.kind === 'error') throw failedInside(reply, report) ?? raisedError(reply, grant, situation);
  if (reply.kind === 'ended') return judgeEnded(report, grant, situation);
  if (report.resultBytes > grant.limits.output) throw exceededError('output', grant.limits, situation);
  return { result: reply.value, warnings: reply.warnings, problems: [] };
}

/**
 * A command that ended has a result, whatever its exit code: the kernel sends the first process of a cell no signal of a
 * limit, so 152 and 153 are its own. What befell a program beside the harness, the harness reports.
 */
function judgeEnded(report: CellReport, grant: Grant, situation: Situation): Verdict {
  const signal = signalOf(report.exit);
  if (diedOfMemory(report, grant, signal)) throw exceededError('memory', grant.limits, situation);
  return { result: undefined, warnings: warningsOfEnd(signal), problems: [] };
}

/** The only signal that the kernel and a script's own exit code cannot be told apart by. */
function warningsOfEnd(signal: number | undefined): string[] {
  if (signal !== constants.signals.SIGSYS) return [];
  return [
    `Exit code ${128 + signal} is the script's own, or the kernel ended it for a system call of another architecture`,
  ];
}

/** The error of a call that was cancelled by its caller or by a service that is shutting down. */
export function cancelled(): SkillError {
  return new SkillError(
    'cancelled',
    'The call was cancelled by its caller, or because the service is shutting down',
    {
      fix: 'Call it again if you still need the result.',
    },
  );
}

/** A call that was cancelled before it ran still gets an outcome and a receipt. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

function raisedError(reply: GuestReply & { kind: 'error' }, grant: Grant, situation: Situation): SkillError {
  if (reply.denied) return deniedError(reply.denied, grant, situation);
  if (reply.limit) return exceededError(reply.limit, grant.limits, situation);
  if (reply.type === 'NotJson') return notJsonError(reply.message);
  return skillError(
    `The skill raised ${reply.type}: ${reply.message}`,
    missingPackage(reply.message, situation) ??
      missingModule(reply.message, situation) ??
      `${missingWorkspace(grant)}Correct ${placeIn(reply.trace) ?? 'the code'}, or report the error to the author of the skill.`,
    {
      type: reply.type,
      trace: reply.trace,
    },
  );
}

function deniedError(denial: CapabilityEvent, grant: Grant, situation: Situation): SkillError {
  const withheld = grant.withheld.find((one) => covers(one, denial));
  const reason = withheld ? `it is declared, but ${withheld.reason}` : denial.declared;
  return new SkillError('capability_denied', `The skill may not ${denial.asked}: ${reason}`, {
    fix: fixForDenial({ denial, grant, situation, withheld }),
    detail: { capability: denial.capability, asked: denial.asked, declared: denial.declared },
  });
}

/** Whether the denied act was declared, but withheld. */
function covers(withheld: Withheld, { capability, asked }: CapabilityEvent): boolean {
  const what = asked.replace(/^\S+ /, '');
  if (capability === 'network' && withheld.capability === capability)
    return hostCovers(withheld.declared, hostIn(what));
  const declared = withheld.declared.replace(/^\S+ /, '').replace('${workspace}', GUEST_WORKSPACE);
  return withheld.capability === capability && (what === declared || what.startsWith(`${declared}/`));
}

/** The host in `127.0.0.1:80` or `https://example.org/x`. */
function hostIn(what: string): string {
  return what
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '');
}

/** The exceeded amount in words, and the manifest field that sets it, if there is one. */
function exceededAmount(limit: Exclude<LimitName, 'busy'>, limits: GrantedLimits): [string, DeclaredLimit?] {
  if (limit === 'processes' && limits.processes === 0) return ['32 threads', limit];
  if (isDeclaredLimit(limit)) return [amountOf(limit, limits), limit];
  const fixed = FIXED_LIMIT_ROWS[limit];
  if (fixed.follows === undefined) return [fixed.amount];
  return [`${fixed.amount}${amountOf(fixed.follows, limits)}`, fixed.follows];
}

function amountOf(limit: DeclaredLimit, limits: GrantedLimits): string {
  return `${formatLimit(limit, limits[limit])}${LIMITS[limit].of}`;
}

function exceededError(
  limit: Exclude<LimitName, 'busy'>,
  limits: GrantedLimits,
  situation: Situation,
): SkillError {
  const [amount, field] = exceededAmount(limit, limits);
  return new SkillError('resource_exceeded', `The skill exceeded its limit "${limit}" of ${amount}`, {
    fix: fixForLimit(field, limits, situation),
    detail: { limit, ...(field ? { allowed: limits[field] } : {}) },
  });
}

function notJsonError(message: string): SkillError {
  return skillError(
    `The skill returned a value that is not valid JSON: ${message}`,
    `Return only objects, arrays, strings, finite numbers, booleans and null, at most ${MAX_JSON_DEPTH} levels deep.`,
  );
}

function brokenProtocolError(message: string): SkillError {
  // The harness passes results on unchecked, so a deeply nested result does not mean that the skill used the channel.
  if (message === TOO_DEEP) return notJsonError(`the result is ${message}`);
  return skillError(
    `The skill broke the protocol of its cell: ${message}`,
    'Do not use file descriptor 3 in the skill: it belongs to the cell.',
  );
}

function noReplyError(report: CellReport, grant: Grant, situation: Situation): SkillError {
  const { exit, logs, fault } = report;
  if (fault) return new SkillError(fault.code, fault.message, { fix: fault.fix, detail: { logs } });
  if (!report.started) {
    if (isTooSmallToStart(report, grant)) return exceededError('memory', grant.limits, situation);
    return new SkillError('internal', `The cell did not start: ${lastLine(logs) || describeExit(exit)}`, {
      fix: 'Run `skillcell doctor`. If it finds no problem, report this with its output.',
      detail: { logs },
    });
  }
  const stopped = stoppedByKernel(report, grant, situation);
  if (stopped) return stopped;
  return skillError(
    `The skill ended without a result: ${describeExit(exit)}`,
    'Return from execute() instead of exiting.',
    {
      exit_code: exit?.code ?? null,
      signal: signalOf(exit) ?? null,
    },
  );
}

/** The limit or denial behind the end of a process; undefined if it may have ended by itself. */
function stoppedByKernel(report: CellReport, grant: Grant, situation: Situation): SkillError | undefined {
  const exceeded = (limit: HostLimit): SkillError => exceededError(limit, grant.limits, situation);
  const signal = signalOf(report.exit);
  if (signal === constants.signals.SIGXFSZ) return exceeded('scratch');
  if (signal === constants.signals.SIGXCPU) return exceeded('cpu');
  if (diedOfMemory(report, grant, signal)) return exceeded('memory');
  if (signal !== constants.signals.SIGSYS) return undefined;
  return deniedError(
    { capability: 'syscalls', asked: 'use a forbidden system call', declared: 'killed by seccomp' },
    grant,
    situation,
  );
}

/** Last words of native libraries and allocators that got no memory. */
const OUT_OF_MEMORY = /out of memory|cannot allocate memory|bad_alloc|memory allocation of \d+ bytes failed/i;
const CRASHES: ReadonlySet<number> = new Set([
  constants.signals.SIGABRT,
  constants.signals.SIGSEGV,
  constants.signals.SIGBUS,
  constants.signals.SIGILL,
  constants.signals.SIGTRAP,
]);
/** A crash this close to the limit is taken for a failed allocation. */
const NEARLY_ALL = 0.9;

/** No engine starts in less memory than this. */
const SMALLEST_CELL = 16 * 1024 * 1024;

/** A cell without memory for its own program crashes before it can report anything. */
function isTooSmallToStart({ exit }: CellReport, { limits }: Grant): boolean {
  return limits.memory < SMALLEST_CELL && CRASHES.has(signalOf(exit) ?? 0);
}

/** Native code that gets no memory crashes or exits, and cannot report the limit. */
function diedOfMemory(report: CellReport, { limits }: Grant, signal?: number): boolean {
  const { usage, exit, reply, includesEngine } = report;
  const isCrash = signal !== undefined && CRASHES.has(signal);
  // An exit code is a result of a command, whatever it printed.
  if (!isCrash && ((exit?.code ?? 0) === 0 || reply?.kind === 'ended')) return false;
  if (OUT_OF_MEMORY.test(lastWords(report))) return true;
  return isCrash && includesEngine !== true && usage.memoryPeakBytes >= NEARLY_ALL * limits.memory;
}

function lastWords({ logs, reply }: CellReport): string {
  return reply?.kind === 'ended' ? reply.stderr.subarray(-2000).toString('latin1') : logs.slice(-2000);
}

/** bwrap reports a death by signal as exit code 128 + signal; without bwrap, the exit has the signal itself. */
function signalOf(exit: ExitInfo | undefined): number | undefined {
  if (exit?.signal) return constants.signals[exit.signal];
  return exit?.code !== null && exit?.code !== undefined && exit.code > 128 ? exit.code - 128 : undefined;
}

function describeExit(exit: ExitInfo | undefined): string {
  const signal = signalOf(exit);
  if (signal === undefined) return `exit code ${exit?.code ?? 'unknown'}`;
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? signal;
  return `killed by ${name}`;
}

function lastLine(logs: string): string {
  return logs.trim().split('\n').at(-1) ?? '';
}

function skillError(message: string, fix: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('skill_error', message, { fix, detail });
}
