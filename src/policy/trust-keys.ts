/**
 * The trust section of the policy file: rules by name, publishers, and the guard of calls.
 *
 * @module
 */
import { z } from 'zod';
import { isArgumentPath } from '../trust/argument-path.ts';
import type { GuardRule } from '../trust/guard.ts';
import type { Publisher } from '../trust/publishers.ts';
import { isPublicKey } from '../trust/signature.ts';
import type { SkillRule } from '../trust/skill-rules.ts';
import { GUARDED_CAPABILITIES } from '../vocabulary/capabilities.ts';
import { DECISION_NAMES } from '../vocabulary/decisions.ts';

const NAME_PATTERN = /^(?:\*|[A-Za-z0-9_.*-]+(?:\/[A-Za-z0-9_.*-]+)?)$/;

export function isNamePattern(text: string): boolean {
  return NAME_PATTERN.test(text);
}

const decision = z.enum(DECISION_NAMES);
const namePattern = z.string().regex(NAME_PATTERN, { error: 'must be a name such as "finance/*"' });

export const skillRules: z.ZodType<SkillRule[]> = z.array(
  z
    .strictObject({ match: namePattern, decision, require_signature: z.boolean().optional() })
    .transform(({ match, decision: word, require_signature: requireSignature = false }): SkillRule => ({
      match,
      decision: word,
      requireSignature,
    })),
);

const publisherName = z.string().regex(/^[\w .@-]{1,64}$/, { error: 'must be a short plain name' });

export const publishers: z.ZodType<Publisher[]> = z.array(
  z.union([
    z.strictObject({
      name: publisherName,
      key: z.string().refine(isPublicKey, { error: 'must be "ed25519:" and a key in base64' }),
    }),
    z
      .strictObject({
        name: publisherName,
        sigstore: z.strictObject({
          identity: z.string().min(1),
          issuer: z.string().min(1),
          trusted_root: z.string().min(1),
        }),
      })
      .transform(({ name, sigstore }) => ({
        name,
        identity: sigstore.identity,
        issuer: sigstore.issuer,
        trustedRoot: sigstore.trusted_root,
      })),
  ]),
);

const condition = z
  .strictObject({
    path: z.string().refine(isArgumentPath, { error: 'must be a path such as "$.order.amount"' }),
    exists: z.boolean().optional(),
    equals: z.json().optional(),
    like: z.string().optional(),
    above: z.number().optional(),
    below: z.number().optional(),
  })
  .refine((given) => Object.keys(given).length > 1, { error: 'must state a test for the value at the path' });

export const guardRules: z.ZodType<GuardRule[]> = z.array(
  z.strictObject({
    skill: namePattern.optional(),
    caller: z.string().optional(),
    capability: z.enum(GUARDED_CAPABILITIES).optional(),
    arguments: z.array(condition).optional(),
    decision,
    reason: z.string().min(1).max(300),
  }),
);
