/**
 * `install --frozen`: the skills of `skills.lock.json` at exactly the pinned bytes, from the store of fetched skills if they
 * are there. Nobody is asked and nothing new is trusted: a clone may have brought the file.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { knownSigner } from '../load/accepted-skills.ts';
import { readDescription } from '../load/bundle-texts.ts';
import { capabilitySet, diffCapabilities } from '../load/capability-set.ts';
import { digestsOf, fetchedFolder, fetchedKey } from '../load/fetched.ts';
import { LOCK_FILE, readBundle, SIGNATURE_FILE, type BundleFiles } from '../load/read-bundle.ts';
import { compareLock, parseLock } from '../load/lock.ts';
import type { SkillPin } from '../load/skills-lock.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { quote, shellWord } from '../manifest/quote.ts';
import type { Runtime } from '../runtime.ts';
import { mapConcurrently } from '../tools/map-concurrently.ts';
import type { Publisher, SignedBundle } from '../trust/publishers.ts';
import { describeSigner, findSigner, isKnownSigner, isSameSigner } from '../trust/signer.ts';
import { readAttestations, type Attested } from './attestations.ts';
import type { Delivery, OpenSource } from './contract.ts';
import type { TransferWatch } from './transfer-watch.ts';
import { Draft } from './draft.ts';
import { pinsOf, type PinPlace } from './pin-file.ts';
import { assertDemands, missingAttestation, provenBefore } from './propose.ts';
import { readCopy } from './read-copy.ts';
import { sourceOf, toPinned } from './to-pinned.ts';

/** One skill that is now installed. */
export interface FrozenSkill {
  id: string;
  pin: SkillPin;
  folder: string;
  /** False if it was fetched now. */
  cached: boolean;
}

export interface FrozenOptions {
  runtime: Runtime;
  place: PinPlace;
  open: OpenSource;
  watch?: TransferWatch | undefined;
}

export async function installFrozen(options: FrozenOptions): Promise<FrozenSkill[]> {
  const pins = [...pinsOf(options.place)];
  return mapConcurrently(pins, async ([id, pin]) => installPin(id, pin, options));
}

async function installPin(id: string, pin: SkillPin, options: FrozenOptions): Promise<FrozenSkill> {
  const { runtime, place } = options;
  const source = sourceOf(pin, options.open);
  const demands = runtime.sources.demands(pin.source);
  assertKnownSigner(place.home, id, pin);
  const folder = fetchedFolder(place.home, id, pin);
  const proven = provenBefore(place.home, id, pin);
  const isProven = demands.every((demand) => missingAttestation(demand, proven) === undefined);
  const read = isProven ? readCopy(place.home, folder) : undefined;
  if (read) {
    const bundle = await compare([id, pin], read, runtime);
    await assertDemands({ id, bundle }, demands, proven);
    return { id, pin, folder, cached: true };
  }
  const delivery = await source.fetchPinned(toPinned(pin), options.watch);
  using draft = Draft.write(place.home, id, delivery.files);
  const arrived = readBundle(draft.folder);
  const bundle = await compare([id, pin], arrived, runtime);
  await assertDemands({ id, bundle }, demands, await attestedFor(delivery, pin, runtime));
  draft.keepOnly(new Set([...arrived.contents.keys(), LOCK_FILE, SIGNATURE_FILE]), delivery.files.keys());
  return { id, pin, folder: draft.keep(fetchedKey(pin)), cached: false };
}

function attestedFor({ attachments, files }: Delivery, pin: SkillPin, runtime: Runtime): Promise<Attested[]> {
  const { publishers } = runtime.sources;
  return readAttestations(attachments, { lock: files.get(LOCK_FILE), revision: pin.revision, publishers });
}

/** Throws unless everything that the pin says is true of these files. */
async function compare(
  [id, pin]: [id: string, pin: SkillPin],
  read: BundleFiles,
  runtime: Runtime,
): Promise<SignedBundle> {
  if (fetchedKey(digestsOf(read)) !== fetchedKey(pin)) throw otherBytes(id, pin, read);
  const { manifest } = readDescription(read.contents, `/${id}`);
  if (manifest.name !== id) throw differs(id, 'name', `the skill calls itself ${quote(manifest.name)}`);
  if (manifest.version !== pin.version)
    throw differs(id, 'version', `the skill says ${quote(manifest.version)}, the pin ${quote(pin.version)}`);
  assertCapabilities(id, pin, manifest);
  const { lock, signature } = read;
  // A signature is for a lock, so it proves something only about the files that the lock lists.
  if (lock) compareLock(parseLock(lock.toString('utf8')), read.files, capabilitySet(manifest));
  const bundle: SignedBundle = {
    manifest,
    lock: lock ? 'locked' : 'unlocked',
    ...(lock && signature ? { vouched: { lock, signature } } : {}),
  };
  await assertSigner([id, pin], bundle, runtime.sources.publishers);
  return bundle;
}

async function assertSigner(
  [id, pin]: [id: string, pin: SkillPin],
  bundle: SignedBundle,
  publishers: readonly Publisher[],
): Promise<void> {
  const { signer, unverified } = await findSigner(bundle, { publishers, pinned: pin.signer });
  if (isSameSigner(signer, pin.signer)) return;
  const isIdentity = pin.signer !== 'unsigned' && 'identity' in pin.signer;
  // An identity can be verified only where a policy has the roots of Sigstore; its bytes are pinned in any case.
  if (isIdentity && unverified > 0 && !isKnownSigner(pin.signer, publishers)) return;
  throw differs(id, 'signer', `it is ${describeSigner(signer)}, the pin says ${describeSigner(pin.signer)}`);
}

function assertCapabilities(id: string, pin: SkillPin, manifest: Manifest): void {
  const diff = diffCapabilities(pin.capabilities, capabilitySet(manifest));
  if (diff.length > 0) throw differs(id, 'capabilities', diff.join('; '));
}

/** A clone must not make this machine forget whom it knows. */
function assertKnownSigner(home: string, id: string, pin: SkillPin): void {
  const known = knownSigner(home, pin.source);
  if (known === undefined || known === 'unsigned' || isSameSigner(known, pin.signer)) return;
  throw new SkillError(
    'signature_invalid',
    `The pin of "${id}" names ${describeSigner(pin.signer)} as its signer, but ${quote(pin.source)} was signed by ${describeSigner(known)} when it was first used here`,
    {
      fix: `Find out who changed the pin. If the new signer is right, review it on a terminal: skillcell update ${shellWord(id)} --new-signer ${shellWord(id)}`,
      detail: { skill: id, source: pin.source },
    },
  );
}

function otherBytes(id: string, pin: SkillPin, read: BundleFiles): SkillError {
  const now = digestsOf(read);
  const parts = (['digest', 'lock', 'signature'] as const).filter((part) => now[part] !== pin[part]);
  const names = { digest: 'its files', lock: 'its skill.lock', signature: 'its signatures' };
  return new SkillError(
    'manifest_drift',
    `"${id}" is not what skills.lock.json pins: ${parts.map((part) => names[part]).join(' and ')} differ`,
    {
      fix: `If the change is wanted, review it: skillcell update ${shellWord(id)}`,
      detail: {
        skill: id,
        pinned: { digest: pin.digest, lock: pin.lock, signature: pin.signature },
        found: now,
      },
    },
  );
}

function differs(id: string, what: string, how: string): SkillError {
  return new SkillError(
    'manifest_drift',
    `skills.lock.json says another ${what} of "${id}" than its files: ${how}`,
    {
      fix: `Find out who changed skills.lock.json. To pin what the files say, run: skillcell remove ${shellWord(id)}, then add it again.`,
      detail: { skill: id, what },
    },
  );
}
