/**
 * Statements of a trusted identity about something else, next to a skill that it never saw. The bundles are real:
 * `scripts/sigstore-attestations.ts` created them with Sigstore's own signer.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { formatSignatures, type Outcome } from '../../src/for-attacks.ts';
import { ATTACKS_DIR } from '../runner/places.ts';
import { group, type Careless, type TrustAttack } from './attack.ts';
import type { TrustStage } from './stage.ts';

type Kind = 'provenance' | 'signedImage' | 'message';

interface Attestations {
  identity: string;
  issuer: string;
  root: Record<string, unknown>;
  bundles: Record<Kind, Record<string, unknown>>;
}

const readAttestations = (): Attestations =>
  JSON.parse(readFileSync(join(ATTACKS_DIR, 'trust', 'attestations.json'), 'utf8')) as Attestations;

type Choose = (bundles: Attestations['bundles']) => Record<string, unknown>;

async function attach(stage: TrustStage, choose: Choose): Promise<Outcome> {
  const { identity, issuer, root, bundles } = readAttestations();
  const rootFile = join(stage.dir, 'root.json');
  writeFileSync(rootFile, JSON.stringify(root));
  stage.write(stage.stranger);
  await stage.with({}, (runtime) => runtime.lock(stage.stranger));
  const signature = { type: 'sigstore', bundle: choose(bundles) } as const;
  writeFileSync(join(stage.stranger, 'skill.sig'), formatSignatures({ version: 1, signatures: [signature] }));
  const publisher = { name: 'acme', sigstore: { identity, issuer, trusted_root: rootFile } };
  return stage.call(stage.stranger, {
    policy: JSON.stringify({
      skills: [{ match: 'trust/*', decision: 'allow', require_signature: true }],
      publishers: [publisher],
    }),
  });
}

/** A loader that checks who signed, but not what. */
const asksWho =
  (choose: Choose, artifact?: Buffer): Careless =>
  () => {
    const { root, bundles, identity } = readAttestations();
    const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(root)));
    const signer = verifier.verify(toSignedEntity(bundleFromJSON(choose(bundles)), artifact));
    return signer.identity?.subjectAlternativeName === identity
      ? `Sigstore's verifier says that ${identity} signed it`
      : undefined;
  };

function attestation(description: string, choose: Choose): Omit<TrustAttack, 'name' | 'codes' | 'limits'> {
  return { description, attempt: (stage) => attach(stage, choose), control: asksWho(choose) };
}

const ofMessage: Choose = ({ message }) => message;

export const ATTESTATION_ATTACKS: readonly TrustAttack[] = group(['signature_invalid'], {
  attested_other_package: attestation(
    'Brings the public build provenance of another package by the trusted publisher.',
    ({ provenance }) => provenance,
  ),
  attested_other_image: attestation(
    "Brings the trusted publisher's signature of a container image, which is an attestation.",
    ({ signedImage }) => signedImage,
  ),
  signed_other_file: {
    description: "Brings the trusted publisher's Sigstore signature of another file.",
    attempt: (stage) => attach(stage, ofMessage),
    control: asksWho(ofMessage, Buffer.from('another artifact')),
  },
});
