/**
 * Statements that another program had Sigstore sign, such as the provenance of a build, to be published beside a skill.
 *
 * @module
 */
import { z } from 'zod';
import { sha256 } from '../../load/digest.ts';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import { ATTACHMENT_TYPES } from '../../vocabulary/oci-types.ts';
import type { Document } from '../oci/referrers.ts';
import { parseJson, parseStatement, STATEMENT_TYPE } from './statement.ts';

/** A file of a bundle, as it is named in messages. */
export interface AttachedFile {
  readonly file: string;
  readonly text: string;
}

const bundle = z.looseObject({
  mediaType: z.literal(ATTACHMENT_TYPES.sigstore),
  dsseEnvelope: z.looseObject({ payloadType: z.literal(STATEMENT_TYPE), payload: z.base64() }),
});

/** Throws unless the statement is about this lock: for anything else, everyone who adds the skill would ignore it. */
export function attachedDocument({ file, text }: AttachedFile, lock: Buffer): Document {
  const bytes = Buffer.from(text);
  const read = bundle.safeParse(parseJson(bytes));
  const statement = read.success
    ? parseStatement(Buffer.from(read.data.dsseEnvelope.payload, 'base64'))
    : undefined;
  if (!statement)
    throw new SkillError('usage', `The file ${quote(file)} is not a Sigstore bundle with an attestation`, {
      fix: 'Pass a bundle of version 0.3 with an in-toto statement, as the tools of Sigstore write it.',
      detail: { file },
    });
  if (!statement.subjects.includes(sha256(lock)))
    throw new SkillError(
      'manifest_drift',
      `The attestation ${quote(file)} is not about the skill.lock of this skill`,
      {
        fix: 'Attest the file skill.lock as it is now, and publish the new bundle.',
        detail: { file, subjects: statement.subjects, lock: sha256(lock) },
      },
    );
  const { predicateType } = statement;
  return {
    artifactType: ATTACHMENT_TYPES.sigstore,
    bytes,
    title: 'attestation.sigstore.json',
    predicateType,
  };
}
