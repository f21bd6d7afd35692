/**
 * Creates `attacks/trust/attestations.json`: real bundles of a Sigstore on loopback, for attacks that run where no signer is
 * installed. A log entry keeps a certificate valid forever, so they never have to be recreated.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../src/load/digest.ts';
import { packageRoot } from '../src/package-root.ts';
import { IDENTITY, ISSUER, openSigstore, statement } from '../test/trust/local-sigstore.ts';

await using sigstore = await openSigstore();
const other = sha256(Buffer.from('another artifact'));
const [provenance, signedImage, message] = await Promise.all([
  sigstore.attest(statement('https://slsa.dev/provenance/v1', other)),
  sigstore.attest(statement('https://sigstore.dev/cosign/sign/v1', other)),
  sigstore.sign(Buffer.from('another artifact')),
]);
const made = {
  identity: IDENTITY,
  issuer: ISSUER,
  root: sigstore.root,
  bundles: { provenance: provenance.bundle, signedImage: signedImage.bundle, message: message.bundle },
};
writeFileSync(
  join(packageRoot(), 'attacks', 'trust', 'attestations.json'),
  `${JSON.stringify(made, null, 2)}\n`,
);
