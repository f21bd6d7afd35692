/**
 * What one call may do and where it runs: mode, grant and artifact, all settled before anything runs.
 *
 * @module
 */
import type { Artifact, Engine, Wall } from './contract.ts';
import type { Machine, Pair } from './machine.ts';
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Mode } from '../outcome.ts';
import { chooseMode, type ModeChoice } from '../policy/choose-mode.ts';
import { computeGrant, type CallOptions } from '../policy/compute-grant.ts';
import { assertEnforceable, underPolicy } from '../policy/enforce-or-refuse.ts';
import type { EnforcementTable } from '../policy/enforcement.ts';
import type { Grant } from '../policy/grant.ts';
import type { OperatorPolicy } from '../policy/operator.ts';
import { resolveGrantPaths } from '../policy/resolve-paths.ts';

/** What the caller of one call may say about it. */
export interface PlanOptions {
  /** Only lowers what manifest and policy allow; in milliseconds. */
  timeout?: number;
  /** Only lowers what manifest and policy allow; in bytes. */
  memory?: number;
  /** Folder on the host that `${workspace}` in a manifest stands for. */
  workspace?: string;
  execution?: Mode;
  /** Refuses every mode weaker than `subprocess`. */
  isolated?: boolean;
  /** The caller vouches for the code: `in_process` may then run skills that are not bundled. */
  trustRemoteCode?: boolean;
  /** Variables and secrets that go to a skill which declares them, though nobody approved it. */
  allowEnv?: readonly string[];
}

export interface Plan {
  choice: ModeChoice;
  grant: Grant;
  enforces: EnforcementTable;
  wall: Wall;
  engine: Engine;
  artifact: Artifact;
}

export interface PlanInput {
  skill: Skill;
  options: PlanOptions;
  policy: OperatorPolicy;
  machine: Machine;
  env: Record<string, string | undefined>;
  /** Variables that the runtime allows to every call, or all of `env`. */
  allowEnv?: readonly string[] | 'all' | undefined;
  /** The working directory, whose skills and policies count. */
  cwd: string;
  /** Whether a person approved exactly this skill. */
  isApproved: () => boolean;
  /** For a call that is observed: what it may do beside what its manifest says. */
  adjust?: (grant: Grant) => Grant;
}

/** Limits that a caller can lower. */
const LOWERABLE = ['timeout', 'memory'] as const;

export async function planCall(input: PlanInput): Promise<Plan> {
  const { skill, policy, machine } = input;
  const { bundle } = skill;
  const choice = await choose(input);
  const { wall: anyMake, engine } = await chosenPair(machine, choice);
  const wall = (await anyMake.forBundle?.(bundle)) ?? anyMake;
  const enforces = underPolicy(engine.enforces((await wall.probe()).enforces), policy);
  assertEnforceable({
    manifest: bundle.manifest,
    policy,
    lowered: LOWERABLE.filter((limit) => input.options[limit] !== undefined),
    table: enforces,
    pair: `${wall.name} + ${engine.name}`,
  });
  const granted = await grantFor(input);
  const grant = input.adjust?.(granted) ?? granted;
  wall.accepts(grant);
  const artifact = await machine.prepare({ mode: choice.candidate.mode, engine }, bundle);
  return { choice, grant, enforces, wall, engine, artifact };
}

async function chosenPair(machine: Machine, { candidate }: ModeChoice): Promise<Pair> {
  const pairs = await machine.pairs();
  const chosen = pairs.find(
    ({ wall, engine }) => wall.name === candidate.wall && engine.name === candidate.engine,
  );
  if (!chosen) throw new Error(`The pair ${candidate.wall} + ${candidate.engine} does not exist`);
  return chosen;
}

/** Which mode a call would run in, and why. */
export async function choose({ skill, options, policy, machine }: PlanInput): Promise<ModeChoice> {
  const { manifest, origin } = skill.bundle;
  assertOneOf(options);
  const choice = chooseMode({
    declared: manifest.execution,
    ...(options.execution ? { requested: options.execution } : {}),
    isolated: options.isolated ?? false,
    origin,
    minimum: policy.minimum[origin],
    minimumIsSet: policy.minimumSet?.includes(origin) ?? false,
    trustRemoteCode: options.trustRemoteCode ?? false,
    candidates: await machine.candidates(skill.bundle),
  });
  assertVouched(choice, { skill, options });
  return choice;
}

/** Without a lock nobody knows what the code was when it was trusted. */
function assertVouched(
  { candidate }: ModeChoice,
  { skill, options }: Pick<PlanInput, 'skill' | 'options'>,
): void {
  const { manifest, lock } = skill.bundle;
  if (candidate.mode !== 'in_process' || lock === 'locked' || options.trustRemoteCode) return;
  throw new SkillError('untrusted', `Refused to run "${manifest.name}" in_process: it has no skill.lock`, {
    fix: 'Run it sandboxed as wasm or subprocess, or have its author lock it with `skillcell lock`.',
  });
}

function assertOneOf({ isolated, trustRemoteCode }: PlanOptions): void {
  if (!isolated || !trustRemoteCode) return;
  throw new SkillError('usage', '--isolated and --trust-remote-code contradict each other', {
    fix: 'Give --isolated for a skill of a stranger, --trust-remote-code for code you vouch for.',
  });
}

function grantFor(input: PlanInput): Promise<Grant> {
  const { skill, options, policy, env, machine } = input;
  const { timeout, memory, workspace } = options;
  const workspaceOption = workspace === undefined ? {} : { workspace };
  const lowered = {
    ...(timeout === undefined ? {} : { timeout }),
    ...(memory === undefined ? {} : { memory }),
  };
  const grant = computeGrant({
    manifest: skill.bundle.manifest,
    policy,
    call: { ...lowered, ...workspaceOption, env, ...vouching(input) },
  });
  const places = { home: machine.home, cwd: input.cwd, bundle: skill.bundle.sourceDir };
  return resolveGrantPaths(grant, { policy, ...places, ...workspaceOption });
}

/** Who lets the skill have variables of the host: its origin, an approval, or a name that somebody gave. */
function vouching({
  skill,
  options,
  allowEnv = [],
  isApproved,
}: PlanInput): Pick<CallOptions, 'allowEnv' | 'approveCommand'> {
  const { manifest, origin, sourceDir } = skill.bundle;
  const asks = Object.keys(manifest.env).length > 0;
  if (!asks || origin === 'bundled' || isApproved()) return {};
  return {
    allowEnv: allowEnv === 'all' ? 'all' : [...allowEnv, ...(options.allowEnv ?? [])],
    approveCommand: `skillcell approve ${shellWord(sourceDir)}`,
  };
}
