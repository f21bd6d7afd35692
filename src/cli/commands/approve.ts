/**
 * `skillcell approve`: shows what a skill requests, and records that a person approved it.
 *
 * @module
 */
import {
  type Approvals,
  type Overlays,
  type Runtime,
  type Skill,
  SkillError,
  Uploads,
  approvalsOfTenant,
  describeReach,
  reachOf,
  printableLine,
  questionFor,
  saveOverlay,
} from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printNote } from '../output.ts';
import { describeQuestion, ownName, personAtTerminal } from '../person.ts';

export interface ApproveFlags {
  yes?: boolean;
  revoke?: boolean;
  renew?: boolean;
  tenant?: string;
  json?: boolean;
}

export async function approve(ref: string, flags: ApproveFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { tenant } = flags;
  const approvals = tenant === undefined ? runtime.approvals : approvalsOfTenant(runtime.home, tenant);
  const place = placeOf(ref, runtime, tenant);
  if (flags.revoke) return await revoke({ ref, place }, { runtime, approvals }, flags.json);
  const loaded = await runtime.load(place);
  const renewal = flags.renew ? await renewalOf(runtime, loaded) : undefined;
  const { bundle } = renewal?.skill ?? runtime.overlays.proposed(loaded);
  const { name } = bundle.manifest;
  const state = approvals.stateOf(bundle);
  const question = questionFor(bundle, state);
  const reach = await reachOf(loaded, { list: () => runtime.list(), load: (one) => runtime.load(one) });
  // Each of them has rules and an approval of its own; this one decides that they may be combined.
  for (const one of reach) question.lines.push(`       ${printableLine(describeReach(one))}`);
  if (state.kind === 'approved' && !renewal) {
    const { by, at } = state.approval;
    const answer = { name, digest: bundle.digest, by, at, already: true };
    printAnswer(flags.json, answer, `${name} is already approved (by ${by}, ${at}).`);
    return 0;
  }
  // With --json, the answer contains what was approved.
  if (flags.yes && !flags.json) printNote(describeQuestion(question));
  if (!flags.yes && !(await confirm(question))) {
    if (flags.json) throw refused(name);
    printNote('Not approved.');
    return 5;
  }
  if (renewal) saveOverlay(renewal);
  approvals.add(bundle, ownName());
  const { digest } = bundle;
  const text = `Approved ${name} ${digest}. Any change to it needs a new approval.`;
  printAnswer(flags.json, { name, digest, by: ownName(), requests: question.lines, already: false }, text);
  return 0;
}

/** An id that the tenant uploaded means that upload. */
function placeOf(ref: string, runtime: Runtime, tenant: string | undefined): string {
  if (tenant === undefined) return ref;
  const uploads = new Uploads(runtime);
  const upload = uploads.find(tenant, ref);
  return upload ? uploads.locate(tenant, upload).dir : ref;
}

async function renewalOf(
  runtime: Runtime,
  skill: Skill,
): Promise<NonNullable<Awaited<ReturnType<Overlays['renewal']>>>> {
  const found = await runtime.overlays.renewal(skill);
  if (found) return found;
  throw new SkillError('usage', `There is no overlay of earlier files of "${skill.bundle.manifest.name}"`, {
    fix: 'Leave out --renew.',
  });
}

/** A skill that is gone or no longer loads is revoked by the name that was approved. */
async function revoke(
  { ref, place }: { ref: string; place: string },
  { runtime, approvals }: { runtime: Runtime; approvals: Approvals },
  json: boolean | undefined,
): Promise<number> {
  const { name, digest } = await identify(place, runtime).catch((error: unknown) => {
    if (approvals.ofSkill(ref).length === 0) throw error;
    return { name: ref, digest: undefined };
  });
  const revoked = approvals.remove(name, digest);
  printAnswer(json, { name, revoked }, `Revoked ${revoked} approval(s) of ${printableLine(name)}.`);
  return 0;
}

async function identify(ref: string, runtime: Runtime): Promise<{ name: string; digest: string }> {
  const { bundle } = await runtime.load(ref);
  return { name: bundle.manifest.name, digest: bundle.digest };
}

function confirm(question: ReturnType<typeof questionFor>): Promise<boolean> {
  const { askPerson } = personAtTerminal();
  if (askPerson) return askPerson(question);
  printNote(describeQuestion(question));
  throw new SkillError('usage', 'Cannot ask for approval: input or output is not a terminal', {
    fix: 'Run the command in a terminal, or review the lines above and add --yes.',
  });
}

function refused(name: string): SkillError {
  return new SkillError('approval_required', `The skill "${name}" was not approved`, {
    fix: 'Run the command again and answer "y" if you accept what it lists.',
  });
}
