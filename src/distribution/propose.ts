/**
 * Turns a delivery into a question to a person, after everything that needs no person was checked: the policy's rules for
 * its source, its signer, its version, its name.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import {
  acceptedSkill,
  factsOf,
  knownSigner,
  recordAcceptedSkill,
  rememberSigner,
} from '../load/accepted-skills.ts';
import { keyOfFolder } from '../load/fetched.ts';
import { LOCK_FILE } from '../load/read-bundle.ts';
import type { SkillPin } from '../load/skills-lock.ts';
import { quote, shellWord } from '../manifest/quote.ts';
import { describeDemand, type SourceDemand } from '../policy/source-rules.ts';
import type { Runtime } from '../runtime.ts';
import { publisherMark, publisherOf, type SignedBundle } from '../trust/publishers.ts';
import { receive, type Arrival } from './arrival.ts';
import { readAttestations, type Attested } from './attestations.ts';
import type { Delivery } from './contract.ts';
import { judgeChange, type Allowances, type Change, type Known } from './judge.ts';
import { assertUnchanged, changePins, pinsOf, type PinPlace } from './pin-file.ts';

export interface Proposal extends Disposable {
  readonly id: string;
  readonly arrival: Arrival;
  readonly before: SkillPin | undefined;
  readonly change: Change;
  /** What the policy demands of the source; all of it is met. Empty if the policy has no rules for sources. */
  readonly demands: readonly SourceDemand[];
  readonly attested: readonly Attested[];
  /** The folder of a bundled skill that gives way to this one. */
  readonly replaces?: string | undefined;
}

export interface ProposeOptions {
  runtime: Runtime;
  place: PinPlace;
  /** By the name of the skill. */
  allow?: ((id: string) => Allowances) | undefined;
  /** The skill that must arrive; absent: any. */
  expected?: string | undefined;
}

export async function propose(delivery: Delivery, options: ProposeOptions): Promise<Proposal> {
  const { runtime, place, allow, expected } = options;
  const demands = runtime.sources.demands(delivery.pinned.source);
  const pins = pinsOf(place);
  const arrival = await receive(delivery, runtime, (id) => pins.get(id));
  try {
    const { id, pin } = arrival;
    if (expected !== undefined && id !== expected) throw otherName(id, expected, pin.source);
    assertTruePin(place, id, pins.get(id));
    const known: Known = {
      before: pins.get(id),
      signer: knownSigner(place.home, pin.source),
      allow: allow?.(id),
    };
    const change = judgeChange(id, pin, known);
    const replaces = placeOfName(runtime, arrival);
    const attested = await readAttestations(delivery.attachments, {
      lock: delivery.files.get(LOCK_FILE),
      revision: pin.revision,
      publishers: runtime.sources.publishers,
    });
    await assertDemands(arrival, demands, attested);
    return {
      ...{ id, arrival, change, demands, attested, replaces, before: known.before },
      [Symbol.dispose]: () => arrival[Symbol.dispose](),
    };
  } catch (error) {
    arrival[Symbol.dispose]();
    throw error;
  }
}

/** Keeps the bytes, pins them and remembers that a person of this machine accepted them. Returns their folder. */
export async function accept(proposal: Proposal, place: PinPlace, by: string): Promise<string> {
  const { arrival, before, id, attested } = proposal;
  const { pin } = arrival;
  const folder = arrival.keep();
  await changePins(place, (pins) => {
    assertUnchanged(pins, id, before);
    pins.set(id, pin);
  });
  recordAcceptedSkill(place.home, pin, {
    skill: id,
    source: pin.source,
    digest: pin.digest,
    by,
    at: new Date().toISOString(),
    facts: factsOf(pin),
    attested: [...new Set(attested.flatMap(({ kind, by: marks }) => marks.map((mark) => `${kind} ${mark}`)))],
  });
  rememberSigner(place.home, pin.source, pin.signer);
  return folder;
}

/** Is exactly this pinned, and did a person of this machine accept it? A pin alone may come from a clone. */
export function isKnownHere({ arrival, change }: Proposal, { home }: PinPlace): boolean {
  return change.isSame && acceptedSkill(home, arrival.id, arrival.pin) !== undefined;
}

/** May this be accepted without asking, because the policy says where it may come from? */
export function isAllowedByPolicy({ demands, change, before }: Proposal): boolean {
  const isMore = before !== undefined && change.wantsMore;
  return demands.length > 0 && !isMore && change.signerBefore === undefined;
}

/** Every rule of every policy file must be met. */
export async function assertDemands(
  { bundle, id }: { bundle: SignedBundle; id: string },
  demands: readonly SourceDemand[],
  attested: readonly Attested[],
): Promise<void> {
  for (const demand of demands) {
    if (demand.rule.requireSignature) await publisherOf(bundle, demand.publishers);
    const missing = missingAttestation(demand, attested);
    if (missing !== undefined) throw unattested(id, missing, demand);
  }
}

/** The first kind of attestation that the rule demands and none of its publishers signed. */
export function missingAttestation(
  { rule, publishers }: SourceDemand,
  attested: readonly Attested[],
): string | undefined {
  const marks = new Set(publishers.map(publisherMark));
  return rule.requireAttestation.find(
    (kind) => !attested.some((one) => one.kind === kind && one.by.some((mark) => marks.has(mark))),
  );
}

/** What was proven about these bytes when a person of this machine accepted them. */
export function provenBefore(home: string, id: string, pin: SkillPin): Attested[] {
  const { attested = [] } = acceptedSkill(home, id, pin) ?? {};
  return attested.flatMap((text) => {
    const [kind = '', mark = ''] = text.split(' ');
    return [{ kind, by: [mark], type: '' }];
  });
}

/** Whoever edits a pin could hide what an update adds, or that it is older. */
function assertTruePin({ home }: PinPlace, id: string, pin: SkillPin | undefined): void {
  const accepted = pin && acceptedSkill(home, id, pin);
  if (!accepted || accepted.facts === factsOf(pin)) return;
  throw new SkillError(
    'manifest_drift',
    `skills.lock.json says another version or other capabilities of "${id}" than the files that were accepted here`,
    {
      fix: `Restore skills.lock.json from version control, or start over: skillcell remove ${shellWord(id)}, then add it again.`,
      detail: { skill: id },
    },
  );
}

/** An id in two places is an error when it is called, so it is refused before it is there. Only bundled skills give way. */
function placeOfName(runtime: Runtime, { id, pin }: Arrival): string | undefined {
  const others = runtime
    .list()
    .filter((known) => known.ids?.includes(id) === true && keyOfFolder(runtime.home, known.dir) === undefined)
    .filter(({ dir }) => runtime.sources.digestOf(dir) !== pin.digest);
  const other = others.find(({ origin }) => origin !== 'bundled');
  if (!other) return others[0]?.dir;
  throw new SkillError('usage', `Another skill has the name "${id}" already: ${JSON.stringify(other.dir)}`, {
    fix:
      other.origin === 'installed'
        ? `Remove it with \`skillcell uninstall ${shellWord(id)}\`, then add this one.`
        : 'Rename one of the two, or remove the other one.',
    detail: { skill: id, dir: other.dir },
  });
}

function otherName(id: string, expected: string, source: string): SkillError {
  return new SkillError('manifest_drift', `${quote(source)} has the skill "${id}" now, not "${expected}"`, {
    fix: `If it was renamed, remove the old one and add the new one: skillcell remove ${shellWord(expected)}`,
    detail: { skill: expected, found: id, source },
  });
}

function unattested(id: string, kind: string, demand: SourceDemand): SkillError {
  return new SkillError(
    'signature_invalid',
    `The skill "${id}" has no ${kind} attestation that is signed and about these bytes, but the ${describeDemand(demand)}`,
    {
      fix: 'Get it from a registry that has its attestations, or ask the publisher for one.',
      detail: { skill: id, attestation: kind, rule: demand.rule.match },
    },
  );
}
