/**
 * `skillcell inspect`
 *
 * @module
 */
import {
  capabilitySet,
  PACKAGE_ENGINES,
  printableJson,
  printableLine,
  SkillError,
  type Plan,
  type Profile,
  type Runtime,
  type Skill,
  type Standing,
} from '../../index.ts';
import { describePlan, describePolicies } from '../explain.ts';
import { executeOptions, openRuntime, type PlanFlags } from '../open-runtime.ts';
import { printLine, printResult, printWarning } from '../output.ts';

export async function inspect(ref: string, flags: PlanFlags & { json?: boolean }): Promise<number> {
  await using runtime = openRuntime(flags);
  const skill = await runtime.load(ref);
  const plan = await planOrReason(runtime, skill, flags);
  if (flags.json) {
    const trust = await runtime.standing(skill);
    printResult({ ...asJson(skill, plan), trust, policies: runtime.policyFiles });
    return 0;
  }
  printLine(describeSkill(skill, await runtime.standing(skill)));
  printLine(describePolicies(runtime));
  printLine(
    plan instanceof SkillError
      ? `runs      not here: ${printableLine(plan.message)}\n          ${printableLine(plan.fix)}`
      : describePlan(plan),
  );
  for (const warning of skill.bundle.warnings) printWarning(warning);
  return 0;
}

/** A skill that cannot run here can still be looked at. */
async function planOrReason(runtime: Runtime, skill: Skill, flags: PlanFlags): Promise<Plan | SkillError> {
  try {
    return await runtime.plan(skill, executeOptions(flags));
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
}

function describeSkill({ bundle }: Skill, { summary, profile }: Standing): string {
  const { manifest, origin, digest, lock, entry, files, inspection } = bundle;
  const list = (values: string[]): string => values.map(printableLine).join('\n          ') || 'nothing';
  const imported = [...inspection.modules, ...inspection.interfaces].map((finding) => finding.value);
  return [
    `skill     ${printableLine(`${manifest.name} ${manifest.version}`)}`,
    `about     ${printableLine(manifest.description.trim().split('\n')[0] ?? '')}`,
    `origin    ${origin} (${printableLine(bundle.sourceDir)})`,
    `trust     ${printableLine(summary)}; ${PROFILE_WORDS[profile]}`,
    `digest    ${digest} (${lock}, ${Object.keys(files).length} files, entry ${printableLine(entry || 'of the image')})`,
    ...describePins(bundle),
    `declares  ${list(capabilitySet(manifest))}`,
    `imports   ${printableLine(imported.join(', ')) || 'nothing'}`,
    `params    ${printableJson(manifest.parameters)}`,
  ].join('\n');
}

function describePins({ image, pins }: Skill['bundle']): string[] {
  const here =
    image === undefined && pins?.image !== undefined ? [`image     ${pins.image} (not locked)`] : [];
  const packages = PACKAGE_ENGINES.flatMap((engine) => {
    const found = pins?.packages?.[engine];
    if (!found) return [];
    const wheels = found.packages.map((one) => `\n          ${one.name} ${one.version} sha256:${one.sha256}`);
    return [`packages  ${found.digest} (${engine})${wheels.join('')}`];
  });
  return [...(image === undefined ? here : [`image     ${image} (pinned by skill.lock)`]), ...packages];
}

const PROFILE_WORDS: Record<Profile, string> = {
  local: 'local: works offline',
  networked: 'networked: uses hosts it declares',
  cloud_only: 'cloud_only: of no use without an account at a service',
};

function asJson({ bundle }: Skill, plan: Plan | SkillError): Record<string, unknown> {
  const { manifest, origin, digest, lock, entry, files, inspection, warnings } = bundle;
  const shared = {
    manifest,
    capabilities: capabilitySet(manifest),
    origin,
    digest,
    lock,
    ...(bundle.image === undefined ? {} : { image: bundle.image }),
    pins: bundle.pins ?? {},
    entry,
    files,
    inspection,
    warnings,
  };
  if (plan instanceof SkillError) return { ...shared, runs: false, error: plan.toBody() };
  const { choice, grant, enforces, engine } = plan;
  // Values of variables are for the cell, not for a terminal.
  const shown = { ...grant, env: Object.keys(grant.env) };
  return { ...shared, runs: true, mode: choice, grant: shown, fixed_env: engine.fixedEnv(grant), enforces };
}
