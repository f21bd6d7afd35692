/**
 * Skills as clients see them, without folders of this machine.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BundleLocation,
  type ExecuteOptions,
  type ExplainedCapability,
  type JsonSchema,
  type Manifest,
  type PairReport,
  type Plan,
  type Sentence,
  type Skill,
  SkillError,
  capabilitySet,
  describeSkill,
  pinLines,
  toSkillError,
} from '../inside.ts';
import type { Decision } from '../vocabulary/decisions.ts';
import type { SkillSummary } from '../web/types.ts';
import { badgesFor } from './badges.ts';
import type { Service } from './service.ts';

export interface SkillPage extends SkillSummary {
  description: string;
  parameters: JsonSchema;
  outputs: Record<string, JsonSchema>;
  manifest: Record<string, unknown>;
  declares: string[];
  asks: Sentence[];
  /** The image and packages that a call would use here. */
  pins: string[];
  approval: ApprovalView;
  kind: Skill['bundle']['kind'];
  files: string[];
  /** sha256 by path. */
  file_digests: Record<string, string>;
  warnings: string[];
  instructions?: string;
  card?: Record<string, unknown>;
  plan?: PlanView & { grants: ExplainedCapability[] };
}

interface ApprovalView {
  decision: Decision;
  state: 'approved' | 'none' | 'changed';
  by?: string;
  at?: string;
  diff?: string[];
}

interface PlanView {
  mode: string;
  wall: string;
  engine: string;
  reason: string;
  enforces: EnforcementRow[];
}

interface EnforcementRow {
  field: string;
  by: string;
  how: string;
}

const MAX_CARD_BYTES = 64 * 1024;
/** Options of every call of this service. */
const ISOLATED: ExecuteOptions = { isolated: true };

export async function summaryOf(service: Service, location: BundleLocation): Promise<SkillSummary> {
  try {
    const skill = await service.shelf.load(location);
    return { ...(await rowOf(service, location, skill)), ...(await modeOf(service, skill)) };
  } catch (thrown) {
    const problem = { ...service.folders.error(toSkillError(thrown).toBody()), detail: {} };
    const unknown = { version: '', about: '', trust: '', profile: '', lock: '', digest: '' };
    return { name: location.ref, origin: location.origin, ...unknown, mode: null, badges: [], problem };
  }
}

export async function pageOf(service: Service, location: BundleLocation): Promise<SkillPage> {
  const skill = await service.shelf.load(location);
  const { bundle } = skill;
  const { manifest, instructions } = bundle;
  const card = readCard(skill);
  return {
    ...(await rowOf(service, location, skill)),
    ...(await planOf(service, skill)),
    description: manifest.description,
    parameters: manifest.parameters,
    outputs: manifest.outputs,
    manifest: manifestView(manifest),
    declares: capabilitySet(manifest),
    asks: describeSkill(bundle),
    pins: pinLines(bundle),
    approval: await approvalOf(service, skill),
    kind: bundle.kind,
    files: Object.keys(bundle.files),
    file_digests: bundle.files,
    warnings: service.folders.within(bundle.warnings),
    ...(instructions === undefined ? {} : { instructions }),
    ...(card ? { card } : {}),
  };
}

export function machineOf({ folders }: Service, pairs: readonly PairReport[]): { pairs: object[] } {
  return {
    pairs: pairs.map((pair) => folders.within({ ...pair, enforces: enforcementRows(pair.enforces) })),
  };
}

type Row = Omit<SkillSummary, 'mode' | 'problem'>;

async function rowOf({ runtime }: Service, { ref, origin }: BundleLocation, skill: Skill): Promise<Row> {
  const { manifest, lock, digest } = skill.bundle;
  const { summary: trust, profile } = await runtime.standing(skill);
  const about = manifest.shortDescription ?? manifest.description.trim().split('\n')[0] ?? '';
  const { version } = manifest;
  return { name: ref, version, about, origin, trust, profile, lock, digest, badges: badgesFor(manifest) };
}

async function modeOf(
  { runtime, folders }: Service,
  skill: Skill,
): Promise<Pick<SkillSummary, 'mode' | 'problem'>> {
  try {
    return { mode: (await runtime.choose(skill, ISOLATED)).candidate.mode };
  } catch (error) {
    if (error instanceof SkillError) return { mode: null, problem: folders.error(error.toBody()) };
    throw error;
  }
}

async function planOf(
  { runtime, folders, options: { workspace } }: Service,
  skill: Skill,
): Promise<Pick<SkillPage, 'mode' | 'plan' | 'problem'>> {
  const options = { ...ISOLATED, ...(workspace === undefined ? {} : { workspace }) };
  try {
    const plan = await runtime.plan(skill, options);
    const grants = await runtime.explain(skill, options);
    return { mode: plan.choice.candidate.mode, plan: folders.within({ ...planView(plan), grants }) };
  } catch (error) {
    if (error instanceof SkillError) return { mode: null, problem: folders.error(error.toBody()) };
    throw error;
  }
}

function planView({ choice, enforces }: Plan): PlanView {
  const { mode, wall, engine } = choice.candidate;
  return { mode, wall, engine, reason: choice.reason, enforces: enforcementRows(enforces) };
}

function enforcementRows(table: Plan['enforces']): EnforcementRow[] {
  return Object.entries(table).map(([field, { by, how }]) => ({ field, by, how }));
}

async function approvalOf({ runtime }: Service, skill: Skill): Promise<ApprovalView> {
  const { rule, approval: state } = await runtime.standing(skill);
  if (state.kind === 'none') return { decision: rule.decision, state: 'none' };
  const { by, at } = state.approval;
  const diff = state.kind === 'changed' ? { diff: state.diff } : {};
  return { decision: rule.decision, state: state.kind, by, at, ...diff };
}

function manifestView(manifest: Manifest): Record<string, unknown> {
  const { requirements, execution, entry, env, capabilities, limits, container, extra } = manifest;
  return { requirements, execution, entry, env, capabilities, limits, container, extra };
}

/** Reads the card from the verified copy; undefined if it is missing or invalid. */
function readCard({ bundle }: Skill): Record<string, unknown> | undefined {
  if (!Object.hasOwn(bundle.files, 'card.json')) return undefined;
  try {
    const bytes = readFileSync(join(bundle.stagedDir, 'card.json'));
    if (bytes.length > MAX_CARD_BYTES) return undefined;
    const card: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof card === 'object' && card !== null && !Array.isArray(card) ? { ...card } : undefined;
  } catch {
    return undefined;
  }
}
