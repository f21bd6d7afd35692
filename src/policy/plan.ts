/**
 * Plans one call: mode, grant and artifact are decided before anything runs.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import type { Skill } from '../load/skill.ts';
import type { Execution } from '../outcome.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { shellWord } from '../manifest/quote.ts';
import { isInAgentFolder } from '../vocabulary/agent-folders.ts';
import type { Mode } from '../vocabulary/modes.ts';
import { bindCommand } from './commands/bind.ts';
import type { Command, GivenCommand, ParsedCommand } from './commands/command.ts';
import { usualRunner, withRunnerDefaults } from './commands/defaults.ts';
import { commandOf } from './commands/of-call.ts';
import { chooseMode, type Candidate, type ModeChoice } from './choose-mode.ts';
import { computeGrant, type CallOptions } from './compute-grant.ts';
import { assertEnforceable, underPolicy } from './enforce-or-refuse.ts';
import type { EnforcementTable } from './enforcement.ts';
import type { Grant } from './grant.ts';
import { demandsOn } from './minimum.ts';
import type { OperatorPolicy } from './operator.ts';
import { placeName } from '../vocabulary/place.ts';
import { resolveGrantPaths } from './resolve-paths.ts';
import type { TenantOption } from './tenant-context.ts';
import { manifestOfCall, policyOfCall, type GivenToCall, type SkillGrants } from './skill-grants.ts';
import { LOWERABLE_LIMITS, type LowerableLimit } from '../vocabulary/limits.ts';

/** The caller's options for one call. Limits, in milliseconds and bytes, only lower what manifest and policy allow. */
export interface PlanOptions extends Partial<Record<LowerableLimit, number>> {
  /** Host folder for `${workspace}` in a manifest. */
  workspace?: string;
  execution?: Mode;
  /** Refuses every mode weaker than `subprocess`. */
  isolated?: boolean;
  /** The caller vouches for the code: `in_process` may then run skills that are not bundled. */
  trustRemoteCode?: boolean;
  /** Variables and secrets for a skill that declares them but is not approved. */
  allowEnv?: readonly string[];
  /**
   * What this call of an Agent Skills folder may do beyond what is declared, within the policy. From a person or the
   * embedding program; never pass on what an agent or a client sent.
   */
  grants?: SkillGrants | undefined;
  /** The tenant of the call; it decides workspace, secrets, variables, approvals, and what its policy takes away. */
  tenant?: TenantOption | undefined;
}

/** The decisions about a call, as plain data without live resources. */
export interface Plan {
  choice: ModeChoice;
  grant: Grant;
  enforces: EnforcementTable;
  /** Variables that every cell of the engine has, whatever the manifest declares. */
  fixedEnv: Readonly<Record<string, string>>;
  /** Digests of the image and packages that the call uses. */
  uses: MachineUses;
}

type MachineUses = Pick<Execution, 'image' | 'packages' | 'generated'>;

/** One way to run a bundle on this machine. */
export interface Way {
  readonly enforces: EnforcementTable;
  /** One process serves many calls. */
  readonly isReusable: boolean;
  /** Throws if it cannot enforce this grant. */
  accepts(grant: Grant): void;
  fixedEnv(grant: Grant): Readonly<Record<string, string>>;
  /** The path of a program in the cell, if its programs are not those of this machine. */
  findProgram?: ((name: string) => Promise<string>) | undefined;
  /** `command` decides what has to be ready for a skill of kind `script`. */
  prepare(command?: Command): Promise<{ readonly uses?: MachineUses }>;
}

/** The parts of the machine that planning needs. */
export interface WaysToRun<W extends Way> {
  /** Skillcell's own folder. */
  readonly home: string;
  /** The command of the call, for skills of kind `script`. */
  candidates(bundle: Bundle, command?: ParsedCommand): Promise<Candidate[]>;
  way(candidate: Candidate, bundle: Bundle): Promise<W>;
}

/** A plan, and what the machine prepared for it. */
export interface Planned<W extends Way> {
  plan: Plan;
  way: W;
  prepared: Awaited<ReturnType<W['prepare']>>;
  /** What the cell starts, for a call of a skill of kind `script`. */
  command?: Command;
}

export interface PlanInput<W extends Way> {
  skill: Skill;
  options: PlanOptions;
  policy: OperatorPolicy;
  machine: WaysToRun<W>;
  env: Record<string, string | undefined>;
  /** Variables that the runtime allows to every call, or all of `env`. */
  allowEnv?: readonly string[] | 'all' | undefined;
  /** The working directory, whose skills and policies apply. */
  cwd: string;
  /** Files and folders that belong to others and must not be granted. */
  foreign?: readonly string[];
  /** Did a person approve exactly this skill? */
  isApproved: () => boolean;
  /** For an observed call: extends the grant beyond the manifest. */
  adjust?: (grant: Grant) => Grant;
  /** The command of the call, for skills of kind `script`; absent while there is no call. */
  command?: GivenCommand | undefined;
}

export async function planCall<W extends Way>(input: PlanInput<W>): Promise<Planned<W>> {
  const { skill, options, policy, machine } = input;
  const parsed = input.command && commandOf(input.command, { ...skill, ...options, policy });
  const bundle = forCall(input, parsed);
  const choice = await choose(input, parsed);
  const way = await machine.way(choice.candidate, bundle);
  const enforces = underPolicy(way.enforces, policy);
  assertEnforceable({
    manifest: bundle.manifest,
    policy,
    lowered: LOWERABLE_LIMITS.filter((limit) => input.options[limit] !== undefined),
    table: enforces,
    pair: placeName(choice.candidate),
  });
  const granted = await grantFor(input, bundle);
  const grant = input.adjust?.(granted) ?? granted;
  way.accepts(grant);
  const command = parsed && (await bindCommand(parsed, grant, way.findProgram));
  const prepared = (await way.prepare(command)) as Awaited<ReturnType<W['prepare']>>;
  const uses = { ...prepared.uses, ...(command?.digest === undefined ? {} : { generated: command.digest }) };
  const plan = { choice, grant, enforces, fixedEnv: way.fixedEnv(grant), uses };
  return { plan, way, prepared, ...(command ? { command } : {}) };
}

/** The bundle with the defaults of this call, which depend on its command. */
function forCall(input: PlanInput<Way>, command: ParsedCommand | undefined): Bundle {
  const { skill } = input;
  const bundle = { ...skill.bundle, manifest: manifestOfCall(skill.bundle, givenTo(input)) };
  const runner = command?.runner ?? usualRunner(bundle);
  return { ...bundle, manifest: withRunnerDefaults(bundle, runner) };
}

/** The mode that a call would run in, and why. For a skill of kind `script` that depends on the command. */
export async function choose<W extends Way>(
  input: PlanInput<W>,
  command?: ParsedCommand,
): Promise<ModeChoice> {
  const { skill, options, policy, machine } = input;
  const { manifest, origin, kind } = skill.bundle;
  assertNoContradiction(options);
  assertRuns(skill.bundle);
  const choice = chooseMode({
    declared: manifest.execution,
    ...(options.execution ? { requested: options.execution } : {}),
    isolated: options.isolated ?? false,
    origin,
    minimum: policy.minimum[origin],
    minimumIsSet: policy.minimumSet?.includes(origin) ?? false,
    demands: demandsOn(skill.bundle, policy.minimumRules),
    // One flag or variable for a whole session must not vouch for third-party skills that tools copied.
    trustRemoteCode: (options.trustRemoteCode ?? false) && !isInAgentFolder(skill.bundle.sourceDir),
    candidates: await machine.candidates(kind === 'script' ? forCall(input, command) : skill.bundle, command),
  });
  assertVouched(choice, { skill, options });
  return choice;
}

/** Throws for a skill that has only texts. */
function assertRuns({ kind, manifest, sourceDir }: Bundle): void {
  if (kind !== 'instructions') return;
  throw new SkillError(
    'skill_unavailable',
    `The skill "${manifest.name}" has instructions only: nothing in it runs`,
    {
      fix: `Let the model read it: ${shellWord(`${sourceDir}/SKILL.md`)}`,
      detail: { skill: manifest.name, kind },
    },
  );
}

/** Without a lock, there is no record of the code that was trusted. */
function assertVouched(
  { candidate }: ModeChoice,
  { skill, options }: Pick<PlanInput<Way>, 'skill' | 'options'>,
): void {
  const { manifest, lock } = skill.bundle;
  if (candidate.mode !== 'in_process' || lock === 'locked' || options.trustRemoteCode) return;
  throw new SkillError('untrusted', `Refused to run "${manifest.name}" in_process: it has no skill.lock`, {
    fix: 'Run it sandboxed as wasm or subprocess, or have its author lock it with `skillcell lock`.',
  });
}

function assertNoContradiction({ isolated, trustRemoteCode }: PlanOptions): void {
  if (!isolated || !trustRemoteCode) return;
  throw new SkillError('usage', '--isolated and --trust-remote-code contradict each other', {
    fix: 'Pass --isolated for an untrusted skill, or --trust-remote-code for code you vouch for.',
  });
}

/** What a person gives to this call. */
export function givenTo({ options, cwd }: Pick<PlanInput<Way>, 'options' | 'cwd'>): GivenToCall {
  return { grants: options.grants, workspace: options.workspace, cwd };
}

function grantFor<W extends Way>(input: PlanInput<W>, bundle: Bundle): Promise<Grant> {
  const { options, env, machine } = input;
  const policy = policyOfCall(input.policy, givenTo(input));
  const { workspace } = options;
  const workspaceOption = workspace === undefined ? {} : { workspace };
  const lowered = Object.fromEntries(
    LOWERABLE_LIMITS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  ) as Partial<Record<LowerableLimit, number>>;
  const grant = computeGrant({
    manifest: bundle.manifest,
    policy,
    call: { ...lowered, ...workspaceOption, env, ...envApproval(input, bundle.manifest) },
  });
  const { cwd, foreign = [] } = input;
  const places = { home: machine.home, cwd, foreign, bundle: bundle.sourceDir };
  return resolveGrantPaths(grant, { policy, ...places, ...workspaceOption });
}

/** Why the skill may have variables of the host: its origin, an approval, or an explicitly allowed name. */
function envApproval(
  {
    skill,
    options,
    allowEnv = [],
    isApproved,
  }: Pick<PlanInput<Way>, 'skill' | 'options' | 'allowEnv' | 'isApproved'>,
  { env }: Manifest,
): Pick<CallOptions, 'allowEnv' | 'approveCommand'> {
  const { origin, sourceDir } = skill.bundle;
  const asks = Object.keys(env).length > 0;
  if (!asks || origin === 'bundled' || isApproved()) return {};
  return {
    allowEnv:
      allowEnv === 'all' ? 'all' : [...allowEnv, ...(options.allowEnv ?? []), ...(options.grants?.env ?? [])],
    approveCommand: `skillcell approve ${shellWord(sourceDir)}`,
  };
}
