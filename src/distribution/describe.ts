/**
 * A proposal in plain words, line by line, for a person who decides. Whoever prints the lines escapes them.
 *
 * @module
 */
import type { SkillPin } from '../load/skills-lock.ts';
import { quote } from '../manifest/quote.ts';
import { describeDemand } from '../policy/source-rules.ts';
import { describeSkill, type Sentence } from '../trust/plain-words.ts';
import { describeSigner } from '../trust/signer.ts';
import type { Attested } from './attestations.ts';
import type { Proposal } from './propose.ts';

const KINDS = {
  function: 'a function with parameters and a result',
  script: 'an Agent Skills folder with scripts, which run as commands',
  instructions: 'instructions only; nothing in it runs',
} as const;

export interface Description {
  /** `text/shout 1.2.0`. */
  title: string;
  facts: [label: string, text: string][];
  asks: Sentence[];
  /** What is new since the pinned version. */
  changes: string[];
  warnings: string[];
}

export function describeProposal(proposal: Proposal): Description {
  const { id, arrival, before, change, demands, attested, replaces } = proposal;
  const { bundle, pin, signed } = arrival;
  const { manifest, kind } = bundle;
  return {
    title: `${id} ${manifest.version}`,
    facts: [
      ['about', firstWords(manifest.description)],
      ['is', KINDS[kind]],
      ['from', placeOf(pin)],
      ['revision', pin.revision],
      ['digest', pin.digest],
      ['signed by', signerLine(signed, change.signerBefore !== undefined)],
      ...attested.map((one): [string, string] => ['claims', describeAttested(one)]),
      ...demands.map((demand): [string, string] => ['policy', `${describeDemand(demand)}: met`]),
    ],
    asks: describeSkill(bundle),
    changes: describeChange(before, pin, change),
    warnings: [
      ...(replaces === undefined
        ? []
        : [`it takes the place of the bundled skill "${id}" in ${JSON.stringify(replaces)}`]),
      ...arrival.bundle.warnings,
    ],
  };
}

const MAX_ABOUT = 300;

/** The stranger's own words are the first thing to read, and must not push the rest away. */
function firstWords(description: string): string {
  const [line = ''] = description.trim().split('\n');
  return line.length > MAX_ABOUT ? `${line.slice(0, MAX_ABOUT)}…` : line;
}

function placeOf({ source, tag }: SkillPin): string {
  return tag === undefined ? source : `${source}, version ${quote(tag)}`;
}

function signerLine(
  { signer, publisher, unverified }: Proposal['arrival']['signed'],
  isOther: boolean,
): string {
  const who =
    signer === 'unsigned'
      ? 'nobody: only the source vouches for these bytes'
      : publisher === undefined
        ? `${describeSigner(signer)}, whom no policy here knows`
        : `${publisher}: ${describeSigner(signer)}`;
  const more = unverified > 0 ? `; ${unverified} Sigstore signature(s) that nobody here can verify` : '';
  return `${isOther ? 'ANOTHER SIGNER: ' : ''}${who}${more}`;
}

function describeAttested({ kind, type, publisher }: Attested): string {
  const what = kind === undefined ? `a document of the type ${quote(type)}` : `${kind} attestation`;
  return publisher === undefined
    ? `${what}: not verified, anybody could have put it there`
    : `${what}: verified, signed by ${publisher} for these bytes`;
}

function describeChange(before: SkillPin | undefined, pin: SkillPin, change: Proposal['change']): string[] {
  if (!before) return [];
  if (change.isSame) return ['Nothing has changed since it was pinned.'];
  const from = `Since the pinned version ${before.version} (${before.digest.slice(0, 19)}…)`;
  const what = before.digest === pin.digest ? 'its files are the same' : 'its files have changed';
  if (change.capabilities.length === 0) return [`${from}, ${what}; it asks for the same capabilities.`];
  return [`${from}, ${what}, and its capabilities:`, ...change.capabilities.map((line) => `  ${line}`)];
}
