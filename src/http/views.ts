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
  type HostFolders,
  type JsonSchema,
  type Manifest,
  type PairReport,
  type Plan,
  type Runtime,
  type Sentence,
  type Skill,
  SkillError,
  type Tenant,
  type TenantContext,
  capabilitySet,
  describeSkill,
  pinLines,
  toSkillError,
} from '../inside.ts';
import type { Decision } from '../vocabulary/decisions.ts';
import type { SkillSummary } from '../web/types.ts';
import { badgesFor } from './badges.ts';
import type { Service } from './service.ts';
import type { TenantShelf } from './tenant-shelf.ts';

/** Whose view of the skills it is. */
export interface Viewer {
  runtime: Runtime;
  folders: HostFolders;
  shelf: TenantShelf;
  /** Options of every call of this tenant. */
  options: ExecuteOptions;
  context: TenantContext | undefined;
  isOperator: boolean;
}

export function viewerOf(service: Service, tenant: Tenant | undefined, isOperator: boolean): Viewer {
  const { runtime, tenancy, options } = service;
  const { workspace } = options;
  const context = tenant?.context;
  return {
    runtime,
    folders: tenancy.foldersOf(tenant),
    shelf: tenancy.shelfOf(tenant),
    options: {
      isolated: true,
      ...(context ? { tenant: context } : workspace === undefined ? {} : { workspace }),
    },
    context,
    isOperator,
  };
}

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

export async function summaryOf(viewer: Viewer, location: BundleLocation): Promise<SkillSummary> {
  try {
    const skill = await viewer.shelf.load(location);
    return { ...(await rowOf(viewer, location, skill)), ...(await modeOf(viewer, skill)) };
  } catch (thrown) {
    const problem = { ...viewer.folders.error(toSkillError(thrown).toBody()), detail: {} };
    const unknown = { version: '', about: '', trust: '', profile: '', lock: '', digest: '' };
    return { name: location.ref, origin: location.origin, ...unknown, mode: null, badges: [], problem };
  }
}

export async function pageOf(viewer: Viewer, location: BundleLocation): Promise<SkillPage> {
  const skill = await viewer.shelf.load(location);
  const { bundle } = skill;
  const { manifest, instructions } = bundle;
  const card = readCard(skill);
  return {
    ...(await rowOf(viewer, location, skill)),
    ...(await planOf(viewer, skill)),
    description: manifest.description,
    parameters: manifest.parameters,
    outputs: manifest.outputs,
    manifest: manifestView(manifest),
    declares: capabilitySet(manifest),
    asks: describeSkill(bundle),
    pins: pinLines(bundle),
    approval: await approvalOf(viewer, skill),
    kind: bundle.kind,
    files: Object.keys(bundle.files),
    file_digests: bundle.files,
    warnings: viewer.folders.within(bundle.warnings),
    ...(instructions === undefined ? {} : { instructions }),
    ...(card ? { card } : {}),
  };
}

export function machineOf(
  { folders }: Pick<Service, 'folders'>,
  pairs: readonly PairReport[],
): { pairs: object[] } {
  return {
    pairs: pairs.map((pair) => folders.within({ ...pair, enforces: enforcementRows(pair.enforces) })),
  };
}

type Row = Omit<SkillSummary, 'mode' | 'problem'>;

async function rowOf(viewer: Viewer, location: BundleLocation, skill: Skill): Promise<Row> {
  const { ref, origin } = location;
  const uploaded = viewer.shelf.isUpload(location) ? { uploaded: true } : {};
  const { manifest, lock, digest } = skill.bundle;
  const { summary: trust, profile } = await viewer.runtime.standing(skill, viewer.context);
  const about = manifest.shortDescription ?? manifest.description.trim().split('\n')[0] ?? '';
  const { version } = manifest;
  return {
    ...{ name: ref, version, about, origin, trust, profile, lock, digest },
    badges: badgesFor(manifest),
    ...uploaded,
  };
}

async function modeOf(
  { runtime, folders, options }: Viewer,
  skill: Skill,
): Promise<Pick<SkillSummary, 'mode' | 'problem'>> {
  try {
    return { mode: (await runtime.choose(skill, options)).candidate.mode };
  } catch (error) {
    if (error instanceof SkillError) return { mode: null, problem: folders.error(error.toBody()) };
    throw error;
  }
}

async function planOf(
  { runtime, folders, options }: Viewer,
  skill: Skill,
): Promise<Pick<SkillPage, 'mode' | 'plan' | 'problem'>> {
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

async function approvalOf({ runtime, context, isOperator }: Viewer, skill: Skill): Promise<ApprovalView> {
  const { rule, approval: state } = await runtime.standing(skill, context);
  if (state.kind === 'none') return { decision: rule.decision, state: 'none' };
  const { by: who, at } = state.approval;
  // A tenant need not know the operator's people and their tokens.
  const by = isOperator || !context ? who : 'the operator';
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
