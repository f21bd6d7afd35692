/**
 * The outcome of a call in the one shape that success and failure share.
 *
 * @module
 */
import { SkillError, toSkillError } from '../../errors.ts';
import type { Skill } from '../../load/skill.ts';
import {
  NO_USAGE,
  type Capabilities,
  type Execution,
  type Outcome,
  type SkillIdentity,
  type Success,
  type Usage,
} from '../../outcome.ts';
import type { CellReport } from '../contract.ts';
import type { Verdict } from './judge.ts';
import type { Plan } from '../../policy/plan.ts';

/** What is known about a call, depending on how far it got. */
export interface CallFacts {
  id: string;
  ref: string;
  skill?: Skill;
  plan?: Plan;
  report?: CellReport;
}

/** Builds the outcome of a call from its verdict. */
export function describeOutcome(facts: CallFacts, { result, warnings: remarks, problems }: Verdict): Outcome {
  const base = describeFacts(facts);
  try {
    const mismatches = outputWarnings(problems, facts);
    return { ok: true, result, ...base, warnings: [...base.warnings, ...remarks, ...mismatches] };
  } catch (thrown) {
    return { ok: false, error: toSkillError(thrown).toBody(), ...base };
  }
}

/** Builds the outcome of a call that failed. */
export function describeFailure(facts: CallFacts, thrown: unknown): Outcome {
  return { ok: false, error: toSkillError(thrown).toBody(), ...describeFacts(facts) };
}

function describeFacts(facts: CallFacts): Omit<Success, 'ok' | 'result'> {
  return {
    call_id: facts.id,
    skill: identity(facts),
    ...execution(facts),
    usage: usage(facts.report),
    capabilities: capabilities(facts.report),
    logs: facts.report?.logs ?? '',
    warnings: warnings(facts),
  };
}

/** Throws if the result violates `outputs`. Skillware never checks them, so for its bundles this is only a warning. */
function outputWarnings(problems: readonly string[], { skill }: CallFacts): string[] {
  if (skill?.bundle.manifest.declaresCapabilities !== true) {
    return problems.map((problem) => `The result does not match "outputs" in the manifest: ${problem}`);
  }
  if (problems.length === 0) return [];
  throw new SkillError(
    'skill_error',
    `The result does not match "outputs" in the manifest: ${problems.join('; ')}`,
    {
      fix: 'Correct the result or "outputs" in the manifest.',
      detail: { problems },
    },
  );
}

export function identity({ skill, ref }: CallFacts): SkillIdentity {
  if (!skill) return { name: ref, version: '', digest: '' };
  const { manifest, digest } = skill.bundle;
  return { name: manifest.name, version: manifest.version, digest };
}

function execution({ plan, report }: CallFacts): { execution?: Execution } {
  if (!plan) return {};
  const { mode, wall, engine } = plan.choice.candidate;
  const start = report?.start ?? 'cold';
  return { execution: { mode, wall, engine, fresh: wall !== 'none', start, ...plan.uses } };
}

function capabilities(report: CellReport | undefined): Capabilities {
  const { used = [], denied = [], cut } = report ?? {};
  return { used, denied, ...(cut && cut.used + cut.denied > 0 ? { cut } : {}) };
}

function usage(report: CellReport | undefined): Usage {
  if (!report) return NO_USAGE;
  return {
    ...NO_USAGE,
    wall_ms: Math.round(report.wallMs * 1000) / 1000,
    cpu_ms: Math.round(report.usage.cpuMs * 1000) / 1000,
    memory_peak_bytes: report.usage.memoryPeakBytes,
    fuel: report.fuel,
    output_bytes: report.resultBytes + report.logBytes,
    host_calls: report.hostCalls,
  };
}

function warnings({ skill, plan }: CallFacts): string[] {
  const withheld = plan?.grant.withheld ?? [];
  return [
    ...(skill?.bundle.warnings ?? []),
    ...(skill && plan?.choice.candidate.wall === 'none' ? [noIsolation(skill)] : []),
    ...(plan?.choice.fallback === undefined ? [] : [plan.choice.fallback]),
    ...withheld.map((one) => `Declared but not granted: ${one.declared} (${one.reason})`),
  ];
}

function noIsolation({ bundle }: Skill): string {
  const { sourceDir, digest } = bundle;
  return `Runs without isolation, inside this program and with all its permissions: ${sourceDir} (${digest})`;
}
