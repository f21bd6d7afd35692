/**
 * Determines the policy in force in a folder: all files at and above it, combined. The outermost is the operator's; each
 * one below can restrict it, and can widen it only if a person trusts the file.
 *
 * @module
 */
import { readFileSync, realpathSync } from 'node:fs';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { shellWord } from '../manifest/quote.ts';
import { TrustedPolicies, type PolicyBytes } from '../trust/trusted-policies.ts';
import { extend, restrict, rulesOf } from './combine.ts';
import { findPolicies, possiblePolicies } from './find-policy.ts';
import { LivePolicy, type LivePolicyOptions } from './live-policy.ts';
import { DEFAULT_POLICY, parsePolicy, type OperatorPolicy } from './operator.ts';
import { wideningKeys } from './widening.ts';

/** Folders that are searched for policy files. */
export interface PolicyPlaces {
  /** The working directory. */
  folder: string;
  /** Skillcell's own folder, which records the trusted files. */
  home: string;
}

/** The policy in force; undefined if no file is found. */
export function policyInForce({ folder, home }: PolicyPlaces): OperatorPolicy | undefined {
  const files = findPolicies(folder);
  return files.length === 0 ? undefined : combine(files, home);
}

/** The policy in force in a folder, or that of a named file, as the files change. */
export function livePolicy(
  places: PolicyPlaces,
  named: string | undefined,
  onNote?: LivePolicyOptions['onNote'],
): LivePolicy {
  if (named !== undefined)
    return new LivePolicy({ read: () => namedPolicy(named), watched: [named], onNote });
  const { folder, home } = places;
  // Trusting a file changes what it may do without changing the file.
  const watched = [...possiblePolicies(folder), TrustedPolicies.folderIn(home)];
  return new LivePolicy({
    read: () => policyInForce(places),
    readUsable: () => usableFiles(places),
    watched,
    onNote,
  });
}

/** What the usable files say if others are broken: one bad file must not hide what another takes away. */
function usableFiles({ folder, home }: PolicyPlaces): OperatorPolicy {
  const usable = possiblePolicies(folder).filter((file) => {
    try {
      readPolicy(file);
      return findPolicies(folderOf(file)).includes(file);
    } catch {
      return false;
    }
  });
  return combine(usable, home, restrict);
}

/** The policy of one file that a person named; no other file applies. */
export function namedPolicy(file: string): OperatorPolicy {
  return readPolicy(file).policy;
}

/** Records that a person trusts this file as it is now; returns the keys that it widens. */
export function trustPolicy(file: string, home: string): string[] {
  const { policy, text } = readPolicy(file);
  // Computed first: if this fails, nothing is trusted that the person was not shown.
  const keys = wideningKeys(policy, inForceAbove(file, home));
  new TrustedPolicies(home).add(bytesOf(file, text, policy));
  return keys;
}

/** The policy that would be in force without this file. */
function inForceAbove(file: string, home: string): OperatorPolicy {
  const real = realpathSync(file);
  const files = findPolicies(folderOf(real)).filter((other) => realpathSync(other) !== real);
  return combine(files, home);
}

type Untrusted = (inForce: OperatorPolicy, policy: OperatorPolicy, keys: string[]) => OperatorPolicy;

/** `withoutTrust` handles a file that widens but is not trusted; absent: it is refused. */
function combine(files: readonly string[], home: string, withoutTrust: Untrusted = refuse): OperatorPolicy {
  const trusted = new TrustedPolicies(home);
  return files.reduce<OperatorPolicy>((inForce, file) => {
    const { policy, text } = readPolicy(file);
    const keys = wideningKeys(policy, inForce);
    if (keys.length === 0) return restrict(inForce, policy);
    const bytes = bytesOf(file, text, policy);
    if (!trusted.has(bytes)) return withoutTrust(inForce, policy, keys);
    return extend(inForce, withTrustedRoots(policy, bytes));
  }, DEFAULT_POLICY);
}

function refuse(inForce: OperatorPolicy, { file = '' }: OperatorPolicy, keys: string[]): never {
  throw untrusted(file, { keys, inForce });
}

function folderOf(file: string): string {
  return file.slice(0, Math.max(1, file.lastIndexOf('/')));
}

function readPolicy(file: string): { policy: OperatorPolicy; text: string } {
  const text = readText(file);
  return { policy: parsePolicy(text, { file }), text };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SkillError('usage', `Cannot read the policy file ${JSON.stringify(file)}`, {
      fix: 'Pass a file that exists and that you can read.',
      detail: { file },
      cause,
    });
  }
}

function bytesOf(file: string, text: string, policy: OperatorPolicy): PolicyBytes {
  const roots = rulesOf(policy)
    .flatMap(({ publishers }) => publishers)
    .flatMap((publisher) => ('trustedRoot' in publisher ? [publisher.trustedRoot] : []));
  return {
    file: realpathSync(file),
    text,
    named: Object.fromEntries(roots.map((root) => [root, digestOf(root)])),
  };
}

/** The roots are read when needed, and must then still match what was trusted. */
function withTrustedRoots(policy: OperatorPolicy, { named = {} }: PolicyBytes): OperatorPolicy {
  if (!policy.publishers) return policy;
  const publishers = policy.publishers.map((publisher) => {
    const rootDigest = 'trustedRoot' in publisher ? named[publisher.trustedRoot] : undefined;
    return rootDigest === undefined ? publisher : { ...publisher, rootDigest };
  });
  const sources = policy.sources?.map((set) => ({ ...set, publishers }));
  return { ...policy, publishers, ...(sources ? { sources } : {}) };
}

/** A missing root counts as empty, so that it must be trusted once it appears. */
function digestOf(file: string): string {
  try {
    return sha256(readFileSync(file));
  } catch {
    return '';
  }
}

function untrusted(file: string, { keys, inForce }: { keys: string[]; inForce: OperatorPolicy }): SkillError {
  const list = keys.map((key) => `"${key}"`).join(', ');
  const without = inForce.file === undefined ? 'the defaults' : `${JSON.stringify(inForce.file)} above it`;
  return new SkillError(
    'untrusted',
    `The policy ${JSON.stringify(file)} was found here and grants more than ${without} (${list}), but it is not trusted`,
    {
      fix: `Read it. If it is yours, run \`skillcell policy trust ${shellWord(file)}\`.`,
      detail: { file, keys },
    },
  );
}
