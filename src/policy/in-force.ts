/**
 * Which policy is in force in a folder: all files at and above it, combined. The outermost is the operator's; each one
 * below can take away, and can give more only when a person trusts it.
 *
 * @module
 */
import { readFileSync, realpathSync } from 'node:fs';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { shellWord } from '../manifest/quote.ts';
import { TrustedPolicies, type PolicyBytes } from '../trust/trusted-policies.ts';
import { extend, restrict, rulesOf } from './combine.ts';
import { findPolicies } from './find-policy.ts';
import { DEFAULT_POLICY, parsePolicy, type OperatorPolicy } from './operator.ts';
import { wideningKeys } from './widening.ts';

export interface PolicyPlaces {
  /** The working directory. */
  folder: string;
  /** Skillcell's own folder, which knows the trusted ones. */
  home: string;
}

/** The policy in force; undefined where no file is found. */
export function policyInForce({ folder, home }: PolicyPlaces): OperatorPolicy | undefined {
  const files = findPolicies(folder);
  return files.length === 0 ? undefined : combined(files, home);
}

/** The policy of one file that a person named: it alone counts. */
export function namedPolicy(file: string): OperatorPolicy {
  return readPolicy(file).policy;
}

/** Remembers that a person trusts this file as it is now; returns what it gives beyond what is in force without it. */
export function trustPolicy(file: string, home: string): string[] {
  const { policy, text } = readPolicy(file);
  // Whatever goes wrong on the way, nothing is trusted that the person was not told of.
  const keys = wideningKeys(policy, inForceAbove(file, home));
  new TrustedPolicies(home).add(bytesOf(file, text, policy));
  return keys;
}

/** What is in force for a file without that file. */
function inForceAbove(file: string, home: string): OperatorPolicy {
  const real = realpathSync(file);
  const files = findPolicies(folderOf(real)).filter((other) => realpathSync(other) !== real);
  return combined(files, home);
}

function combined(files: readonly string[], home: string): OperatorPolicy {
  const trusted = new TrustedPolicies(home);
  return files.reduce<OperatorPolicy>((inForce, file) => {
    const { policy, text } = readPolicy(file);
    const keys = wideningKeys(policy, inForce);
    if (keys.length === 0) return restrict(inForce, policy);
    const bytes = bytesOf(file, text, policy);
    if (!trusted.has(bytes)) throw untrusted(file, { keys, inForce });
    return extend(inForce, withRootsAsTrusted(policy, bytes));
  }, DEFAULT_POLICY);
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
      fix: 'Name a file that exists and that you may read.',
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

/** The roots are read when they are needed: by then they must still be what was trusted. */
function withRootsAsTrusted(policy: OperatorPolicy, { named = {} }: PolicyBytes): OperatorPolicy {
  if (!policy.publishers) return policy;
  const publishers = policy.publishers.map((publisher) => {
    const rootDigest = 'trustedRoot' in publisher ? named[publisher.trustedRoot] : undefined;
    return rootDigest === undefined ? publisher : { ...publisher, rootDigest };
  });
  return { ...policy, publishers };
}

/** A root that is not there counts as one without bytes: when it comes, it has to be trusted. */
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
    `The policy ${JSON.stringify(file)} was found here and gives more than ${without} (${list}), but nobody has trusted it`,
    {
      fix: `Read it. If it is yours, run \`skillcell policy trust ${shellWord(file)}\`.`,
      detail: { file, keys },
    },
  );
}
