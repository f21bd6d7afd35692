/**
 * From what came back of a cell to a verdict. Pure: the same report always gets the same code.
 *
 * @module
 */
import { constants } from 'node:os';
import { SkillError, type LimitName } from '../errors.ts';
import type { CapabilityEvent } from '../outcome.ts';
import { WORKSPACE } from '../manifest/places.ts';
import { formatDuration, formatSize } from '../manifest/units.ts';
import type { Grant, GrantedLimits, Withheld } from '../policy/grant.ts';
import { GUEST_WORKSPACE, readDeclaredPath } from '../policy/guest-paths.ts';
import { hostCovers } from '../policy/patterns.ts';
import type { CellReport, ExitInfo, GuestLimit, GuestReply } from './contract.ts';
import { MAX_JSON_DEPTH, TOO_DEEP } from './guest-json.ts';

export interface Verdict {
  result: unknown;
  warnings: string[];
  /** Where the result differs from the outputs of the manifest. */
  problems: string[];
}

/** Returns the result, or throws what the call failed with. */
export function judge(report: CellReport, grant: Grant): Verdict {
  const { reply, killReason } = report;
  if (killReason === 'aborted') throw cancelled();
  if (killReason && killReason !== 'done' && killReason !== 'protocol')
    throw exceeded(killReason, grant.limits);
  if (reply === undefined) throw withoutReply(report, grant);
  if (reply.kind === 'broken') throw broken(reply.message);
  if (reply.kind === 'unread') throw new TypeError('A reply is read before it is judged');
  if (reply.kind === 'error') throw raised(reply, grant);
  if (report.resultBytes > grant.limits.output) throw exceeded('output', grant.limits);
  return { result: reply.value, warnings: reply.warnings, problems: [] };
}

/** The end of a call that its caller gave up, or that a service cut short to end itself. */
export function cancelled(): SkillError {
  return new SkillError(
    'cancelled',
    'The call was cancelled: its caller gave it up, or the service is shutting down',
    {
      fix: 'Call it again if the result is still wanted.',
    },
  );
}

/** A call that was given up before it ran is still one: it ends in an outcome and a receipt. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled();
}

function raised(reply: GuestReply & { kind: 'error' }, grant: Grant): SkillError {
  if (reply.denied) return denied(reply.denied, grant);
  if (reply.limit) return exceeded(reply.limit, grant.limits);
  if (reply.type === 'NotJson') return notJson(reply.message);
  return skillError(
    `The skill raised ${reply.type}: ${reply.message}`,
    'See the trace for the place in the skill, or report it to the author.',
    {
      type: reply.type,
      trace: reply.trace,
    },
  );
}

function denied(denial: CapabilityEvent, grant: Grant): SkillError {
  const withheld = grant.withheld.find((one) => concerns(one, denial));
  const reason = withheld ? `it is declared, but ${withheld.reason}` : denial.declared;
  return new SkillError('capability_denied', `The skill may not ${denial.asked}: ${reason}`, {
    fix: withheld?.fix ?? fixFor(denial),
    detail: { capability: denial.capability, asked: denial.asked, declared: denial.declared },
  });
}

/** Was just this declared and then not granted? */
function concerns(withheld: Withheld, { capability, asked }: CapabilityEvent): boolean {
  const what = asked.replace(/^\S+ /, '');
  if (capability === 'network' && withheld.capability === capability)
    return hostCovers(withheld.declared, hostIn(what));
  const declared = withheld.declared.replace(/^\S+ /, '').replace('${workspace}', GUEST_WORKSPACE);
  return withheld.capability === capability && (what === declared || what.startsWith(`${declared}/`));
}

/** From `127.0.0.1:80` or `https://example.org/x`. */
function hostIn(what: string): string {
  return what
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '');
}

/** Where a skill sees the workspace, which a manifest names by its variable. */
const INSIDE_WORKSPACE = new RegExp(`^${GUEST_WORKSPACE}(?=/|$)`);

function isDeclarable(path: string): boolean {
  try {
    return readDeclaredPath({ path, access: 'read' }).kind !== 'bundle';
  } catch {
    return false;
  }
}

/** How an author declares what was missing. */
function fixFor({ capability, asked }: CapabilityEvent): string {
  const what = asked.replace(/^\S+ /, '').replace(INSIDE_WORKSPACE, WORKSPACE);
  const access = asked.startsWith('read') ? 'read' : 'read-write';
  const fixes: Record<CapabilityEvent['capability'], string> = {
    filesystem: isDeclarable(what)
      ? `If the skill needs it, declare it under capabilities.filesystem: { path: "${what}", access: ${access} }, and have the operator allow that path.`
      : 'No manifest can ask for it: a cell has this place for itself. Hand over what the skill needs as a parameter, or as a file of the workspace.',
    network: `If the skill needs it, declare the host under capabilities.network: { host: "${hostIn(what)}" }.`,
    env: `If the skill needs it, declare it under env_vars: ${what}: { required: true }.`,
    secret: `If the secret is meant for that host too, add the host to env_vars.${what.replace(/ to .*$/, '')}.hosts.`,
    process: 'If the skill needs to start programs, declare how many: limits: { processes: 8 }.',
    module: 'Add the package to requirements.',
    syscalls: 'The skill used a system call that no cell has.',
  };
  return fixes[capability];
}

/** What was used up, in words, and the field of the manifest that sets it, if one does. */
const LIMITS: Record<
  GuestLimit | keyof GrantedLimits,
  (limits: GrantedLimits) => [string, (keyof GrantedLimits)?]
> = {
  timeout: (limits) => [formatDuration(limits.timeout), 'timeout'],
  cpu: (limits) => [`${formatDuration(limits.cpu)} of CPU time`, 'cpu'],
  // Fuel is how CPU time is counted where every run must count the same.
  fuel: (limits) => [`the work of ${formatDuration(limits.cpu)} of CPU time`, 'cpu'],
  memory: (limits) => [formatSize(limits.memory), 'memory'],
  output: (limits) => [`${formatSize(limits.output)} of output`, 'output'],
  processes: (limits) => [limits.processes > 0 ? `${limits.processes} processes` : '32 threads', 'processes'],
  scratch: (limits) => [`${formatSize(limits.scratch)} of scratch space`, 'scratch'],
  handles: () => ['open handles'],
  host_calls: () => ['requests to the host'],
};

function exceeded(limit: GuestLimit | keyof GrantedLimits, limits: GrantedLimits): SkillError {
  const name: LimitName = limit;
  const [amount, field] = LIMITS[limit](limits);
  const raise = field
    ? `, or raise limits.${field} in the manifest (the operator's ceiling still holds)`
    : '';
  return new SkillError('resource_exceeded', `The skill went beyond its limit "${limit}" of ${amount}`, {
    fix: `Give it less work${raise}.`,
    detail: { limit: name, ...(field ? { allowed: limits[field] } : {}) },
  });
}

function notJson(message: string): SkillError {
  return skillError(
    `The skill returned what is no JSON: ${message}`,
    `Return only objects, arrays, strings, finite numbers, booleans and null, at most ${MAX_JSON_DEPTH} levels deep.`,
  );
}

function broken(message: string): SkillError {
  // A harness sends on what the skill returned; who returns a deep value has not touched the channel.
  if (message === TOO_DEEP) return notJson(`the result is ${message}`);
  return skillError(
    `The skill broke the protocol of its cell: ${message}`,
    'A skill must leave file descriptor 3 alone.',
  );
}

function withoutReply(report: CellReport, grant: Grant): SkillError {
  const { exit, logs, fault } = report;
  if (fault) return new SkillError(fault.code, fault.message, { fix: fault.fix, detail: { logs } });
  if (!report.started) {
    return new SkillError('internal', `The cell did not start: ${lastLine(logs) || describeExit(exit)}`, {
      fix: 'Run `skillcell doctor`; if it finds nothing, please report this with its output.',
      detail: { logs },
    });
  }
  const signal = signalOf(exit);
  if (signal === constants.signals.SIGXFSZ) return exceeded('scratch', grant.limits);
  if (signal === constants.signals.SIGXCPU) return exceeded('cpu', grant.limits);
  if (signal === constants.signals.SIGSYS) {
    return denied(
      { capability: 'syscalls', asked: 'use a forbidden system call', declared: 'killed by seccomp' },
      grant,
    );
  }
  return skillError(
    `The skill ended without a result: ${describeExit(exit)}`,
    'A skill must return from execute(); it must not exit by itself.',
    {
      exit_code: exit?.code ?? null,
      signal: signal ?? null,
    },
  );
}

/** bwrap passes a death by signal on as 128 + its number; without it the signal is told as such. */
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
