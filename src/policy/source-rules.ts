/**
 * The operator's rules for sources: where skills may be fetched from, and who must vouch for them. The first rule that
 * matches counts; if there are rules, a source that none of them matches is refused.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import { starMatches } from '../manifest/star-pattern.ts';
import type { Publisher } from '../trust/publishers.ts';
import { ATTESTATION_KIND_NAMES, type AttestationKind } from '../vocabulary/attestation-kinds.ts';
import { SOURCE_KIND_NAMES, SOURCE_KINDS, sourceKindOf } from '../vocabulary/source-kinds.ts';

export interface SourceRule {
  /** A source without its version, in which a star matches within a segment; a last segment `*` matches all below. */
  match: string;
  requireSignature: boolean;
  requireAttestation: AttestationKind[];
  /** Names of publishers, one of whom must have signed; absent: any publisher of the policy. */
  publishers?: string[];
}

/** The rules of one policy file, with the publishers that it names. */
export interface SourceRules {
  rules: SourceRule[];
  publishers: Publisher[];
}

/** What a rule demands of a skill from a source. */
export interface SourceDemand {
  rule: SourceRule;
  /** One of them must have signed what has to be signed. */
  publishers: readonly Publisher[];
}

const prefixes = SOURCE_KIND_NAMES.map((kind) => SOURCE_KINDS[kind].prefix).join(', ');
const match = z
  .string()
  .max(1000)
  .refine((text) => text === '*' || (sourceKindOf(text) !== undefined && !/[\s\p{C}]/u.test(text)), {
    error: `must be "*" or start with one of ${prefixes}`,
  });

export const sourceRules: z.ZodType<SourceRule[]> = z.array(
  z
    .strictObject({
      match,
      require_signature: z.boolean().optional(),
      require_attestation: z.array(z.enum(ATTESTATION_KIND_NAMES)).optional(),
      publishers: z.array(z.string()).min(1).optional(),
    })
    .transform(
      ({
        match: pattern,
        require_signature: signed,
        require_attestation: attested,
        publishers,
      }): SourceRule => ({
        match: pattern,
        // Whoever names publishers wants their signatures.
        requireSignature: signed === true || publishers !== undefined,
        requireAttestation: [...new Set(attested)].sort(),
        ...(publishers ? { publishers: [...new Set(publishers)].sort() } : {}),
      }),
    ),
);

/** The path of the first publisher that a rule names and the file does not have. */
export function unknownPublisher({ rules, publishers }: SourceRules): (string | number)[] | undefined {
  const names = new Set(publishers.map(({ name }) => name));
  for (const [at, rule] of rules.entries()) {
    const missing = rule.publishers?.findIndex((name) => !names.has(name)) ?? -1;
    if (missing >= 0) return ['sources', at, 'publishers', missing];
  }
  return undefined;
}

/** What each file demands of this source; empty without rules. Throws `untrusted` if a file has rules and none matches. */
export function demandsOnSource(sets: readonly SourceRules[], source: string): SourceDemand[] {
  return sets.map((set) => {
    const rule = set.rules.find((one) => sourceMatches(one.match, source));
    if (!rule) throw refused(set, source);
    const named = set.publishers.filter(({ name }) => rule.publishers?.includes(name) ?? true);
    return { rule, publishers: named };
  });
}

/** A source that could mean another one after somebody resolves it matches nothing. */
export function sourceMatches(pattern: string, source: string): boolean {
  const given = segmentsOf(source);
  if (given.some(isAmbiguous)) return false;
  if (pattern === '*') return true;
  const wanted = segmentsOf(pattern);
  const isOpen = wanted.length > 1 && wanted.at(-1) === '*';
  if (isOpen ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, at) => segmentMatches(segment, given[at] ?? ''));
}

/** GitHub reads owners and repositories in any case. */
function segmentsOf(text: string): string[] {
  const segments = text.split('/');
  if (!text.startsWith(SOURCE_KINDS.github.prefix)) return segments;
  return segments.map((segment, at) => (at < 2 ? segment.toLowerCase() : segment));
}

/** A star stands for something: `oci://host/*` is not the host itself. */
function segmentMatches(pattern: string, text: string): boolean {
  return starMatches(pattern, text) && (pattern === '' || text !== '');
}

function isAmbiguous(segment: string): boolean {
  const plain = segment.replaceAll(/%2e/gi, '.');
  return plain === '.' || plain === '..' || /%2f|%5c|\\|[\s\p{C}]/iu.test(segment);
}

function refused({ rules }: SourceRules, source: string): SkillError {
  const known = rules.map((rule) => rule.match).join(', ') || 'nothing';
  return new SkillError(
    'untrusted',
    `The operator policy allows no skills from ${quote(source)}, only from: ${known}`,
    {
      fix: 'Use a source that the policy allows, or have the operator add a rule under "sources" in the policy.',
      detail: { source, rules: rules.map((rule) => rule.match) },
    },
  );
}

/** For people: what a rule demands. */
export function describeDemand({ rule, publishers }: SourceDemand): string {
  const names =
    publishers.map(({ name }) => name).join(' or ') || 'a publisher, of whom the policy names none';
  const demands = [
    ...(rule.requireSignature ? [`a signature by ${names}`] : []),
    ...rule.requireAttestation.map((kind) => `a ${kind} attestation signed by ${names}`),
  ];
  return `rule "${rule.match}" demands ${demands.join(' and ') || 'nothing'}`;
}
