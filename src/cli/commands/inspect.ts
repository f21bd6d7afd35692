/**
 * `skillcell inspect`
 *
 * @module
 */
import {
  PACKAGE_ENGINES,
  type Plan,
  type Profile,
  type Runtime,
  type Skill,
  SkillError,
  type Standing,
  capabilitySet,
  describeReach,
  reachOf,
  type Reached,
  isNetworkModule,
  filesOf,
  printableJson,
  printableLine,
  specialFileWarnings,
} from '../../inside.ts';
import { agentSkillJson, describeAgentSkill } from '../describe-agent-skill.ts';
import { describePlan, describePolicies } from '../explain.ts';
import {
  callOptions,
  openRuntime,
  type GrantFlags,
  type PlanFlags,
  type ShowFlags,
} from '../open-runtime.ts';
import { printLine, printResult, printWarning } from '../output.ts';

export async function inspect(ref: string, flags: ShowFlags): Promise<number> {
  await using runtime = openRuntime(flags);
  const skill = await runtime.load(ref);
  const plan = await planOrReason(runtime, skill, flags);
  if (flags.json) {
    const trust = await runtime.standing(skill);
    const sources = runtime.overlays.sourcesOf(skill, callOptions(flags));
    const reach = await reachFor(runtime, skill);
    printResult({
      ...asJson(skill, plan),
      ...(reach.length > 0 ? { reach } : {}),
      sources,
      trust,
      policies: filesOf(runtime.policy),
    });
    return 0;
  }
  const sources = runtime.overlays.sourcesOf(skill, callOptions(flags));
  const declared = sources.map(({ capability, source, file }) =>
    source === 'bundle' ? capability : `${capability} (from the ${file ?? source})`,
  );
  printLine(describeSkill(skill, await runtime.standing(skill), declared));
  const reach = await reachFor(runtime, skill);
  if (reach.length > 0)
    printLine(`reaches   ${reach.map(describeReach).map(printableLine).join('\n          ')}`);
  printLine(describePolicies(runtime));
  printLine(
    plan instanceof SkillError
      ? `runs      ${skill.bundle.kind === 'instructions' ? 'nothing' : 'not here'}: ${printableLine(plan.message)}\n          ${printableLine(plan.fix)}`
      : describePlan(plan),
  );
  for (const warning of warningsOf(skill, plan)) printWarning(warning);
  return 0;
}

/** What the skills that it may call ask for. */
function reachFor(runtime: Runtime, skill: Skill): Promise<Reached[]> {
  return reachOf(skill, { list: () => runtime.list(), load: (ref) => runtime.load(ref) });
}

/** Warnings about the bundle, and about special files in the folders it would be granted. */
function warningsOf({ bundle }: Skill, plan: Plan | SkillError): string[] {
  return [
    ...bundle.warnings,
    ...(plan instanceof SkillError ? [] : specialFileWarnings(plan.grant.filesystem)),
  ];
}

/** A skill that cannot run here can still be inspected. */
async function planOrReason(
  runtime: Runtime,
  skill: Skill,
  flags: PlanFlags & GrantFlags,
): Promise<Plan | SkillError> {
  try {
    return await runtime.plan(skill, callOptions(flags));
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}

function describeSkill(skill: Skill, { summary, profile }: Standing, declared: string[]): string {
  const { bundle } = skill;
  const isFunction = bundle.kind === 'function';
  const { manifest, origin, digest, lock, entry, files, inspection } = bundle;
  const list = (values: string[]): string => values.map(printableLine).join('\n          ') || 'nothing';
  const imported = [...inspection.modules, ...inspection.interfaces].map((finding) => finding.value);
  return [
    `skill     ${printableLine(`${manifest.name} ${manifest.version}`)}`,
    `about     ${printableLine(manifest.description.trim().split('\n')[0] ?? '')}`,
    `origin    ${origin} (${printableLine(bundle.sourceDir)})`,
    `trust     ${printableLine(summary)}; ${PROFILE_WORDS[profile]}${printableLine(deniedModules(bundle))}`,
    `digest    ${digest} (${lock}, ${Object.keys(files).length} files${isFunction ? `, entry ${printableLine(entry || 'of the image')}` : ''})`,
    ...describePins(bundle),
    `declares  ${list(declared)}`,
    ...(isFunction
      ? [
          `imports   ${printableLine(imported.join(', ')) || 'nothing'}`,
          `params    ${printableJson(manifest.parameters)}`,
        ]
      : describeAgentSkill(skill)),
  ].join('\n');
}

function describePins({ image, pins, lockedPackages, overlay }: Skill['bundle']): string[] {
  const place = overlay ? printableLine(overlay.file) : 'skill.lock';
  const state = lockedPackages ? `pinned by ${place}` : 'not pinned';
  const here =
    image === undefined && pins?.image !== undefined ? [`image     ${pins.image} (not locked)`] : [];
  const packages = PACKAGE_ENGINES.flatMap((engine) => {
    const found = pins?.packages?.[engine];
    if (!found) return [];
    const wheels = found.packages.map((one) => `\n          ${one.name} ${one.version} sha256:${one.sha256}`);
    return [`packages  ${found.digest} (${engine}, ${state})${wheels.join('')}`];
  });
  return [...(image === undefined ? here : [`image     ${image} (pinned by skill.lock)`]), ...packages];
}

const PROFILE_WORDS: Record<Profile, string> = {
  local: 'local: declares no host, so every connection is denied',
  networked: 'networked: uses hosts it declares',
  cloud_only: 'cloud_only: needs an account with a service',
};

/** What the code imports although the manifest declares no network. */
function deniedModules({ manifest, inspection }: Skill['bundle']): string {
  if (manifest.capabilities.network.length > 0) return '';
  const modules = new Set(inspection.modules.map(({ value }) => value).filter(isNetworkModule));
  return modules.size === 0 ? '' : `, but its code imports ${[...modules].join(', ')}`;
}

function asJson(skill: Skill, plan: Plan | SkillError): Record<string, unknown> {
  const { bundle } = skill;
  const { manifest, origin, digest, lock, entry, files, inspection } = bundle;
  const shared = {
    manifest,
    capabilities: capabilitySet(manifest),
    origin,
    digest,
    lock,
    ...(bundle.image === undefined ? {} : { image: bundle.image }),
    pins: bundle.pins ?? {},
    packages_pinned: bundle.lockedPackages !== undefined,
    entry,
    ...agentSkillJson(skill),
    files,
    inspection,
    warnings: warningsOf(skill, plan),
  };
  if (plan instanceof SkillError) return { ...shared, runs: false, error: plan.toBody() };
  const { choice, grant, enforces, fixedEnv } = plan;
  // Values of variables belong in the cell, not on a terminal.
  const grantWithoutValues = { ...grant, env: Object.keys(grant.env) };
  return { ...shared, runs: true, mode: choice, grant: grantWithoutValues, fixed_env: fixedEnv, enforces };
}
