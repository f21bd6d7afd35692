/**
 * `skillcell sign` and `skillcell verify`
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Signature,
  type Skill,
  SkillError,
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  parseSignatures,
  shellWord,
  signLock,
  signedBytes,
  sourceKindOf,
  withSignature,
} from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printLine } from '../output.ts';
import { readText } from '../read-text.ts';

export interface SignFlags {
  key?: string;
  newKey?: string;
  payload?: string;
  attach?: string;
  json?: boolean;
}

export async function sign(ref: string, flags: SignFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { dir, lock } = lockOf(await runtime.load(ref));
  if (flags.payload !== undefined) {
    writeFileSync(flags.payload, signedBytes(lock));
    printAnswer(flags.json, { payload: flags.payload }, `Wrote the payload to sign to ${flags.payload}`);
    return 0;
  }
  const signature = flags.attach === undefined ? signWithKey(lock, flags) : readBundle(flags.attach);
  addSignature(join(dir, 'skill.sig'), signature);
  const { type } = signature;
  const key = type === 'ed25519' ? signature.key : undefined;
  printAnswer(flags.json, { skill: ref, type, key }, `Signed ${ref} with ${key ?? 'a Sigstore bundle'}`);
  return 0;
}

function signWithKey(lock: Buffer, { key, newKey, json }: SignFlags): Signature {
  return signLock(lock, newKey === undefined ? readKey(key) : writeNewKey(newKey, json));
}

function readBundle(file: string): Signature {
  try {
    const bundle = JSON.parse(readText(file, 'Sigstore bundle')) as Record<string, unknown>;
    return { type: 'sigstore', bundle };
  } catch (cause) {
    throw new SkillError('usage', `The file "${file}" is not a Sigstore bundle in JSON`, {
      fix: 'Pass the bundle that your Sigstore tool wrote for the --payload file.',
      cause,
    });
  }
}

function addSignature(file: string, signature: Signature): void {
  const present = existsSync(file) ? parseSignatures(readFileSync(file)).signatures : [];
  writeFileSync(file, formatSignatures({ version: 1, signatures: withSignature(present, signature) }));
}

/** Checks each signature, and whether a valid one is by a publisher in the policy. */
export async function verify(ref: string, flags: { policy?: string; json?: boolean }): Promise<number> {
  await using runtime = openRuntime(flags);
  if (sourceKindOf(ref) !== undefined) {
    const { verifySource } = await import('./verify-source.ts');
    // The runtime must not close before.
    return await verifySource(ref, runtime, flags.json);
  }
  const skill = await runtime.load(ref);
  const { vouched, manifest } = skill.bundle;
  if (!vouched) throw invalid(manifest.name, 'it has no skill.lock with a skill.sig next to it');
  const signatures = parseSignatures(vouched.signature).signatures.map((one) => judge(one, vouched.lock));
  if (!flags.json) for (const { text } of signatures) printLine(text);
  const { publisher } = await runtime.standing(skill);
  if (publisher === undefined)
    throw invalid(manifest.name, 'no valid signature is by a publisher in the policy');
  const { name, version } = manifest;
  const answer = {
    name,
    version,
    publisher,
    signatures: signatures.map(({ type, key, good }) => ({ type, key, good })),
  };
  printAnswer(flags.json, answer, `${name} ${version} is signed by ${publisher}.`);
  return 0;
}

interface Judged {
  type: Signature['type'];
  key?: string;
  good?: boolean;
  text: string;
}

function judge(signature: Signature, lock: Buffer): Judged {
  const { type } = signature;
  if (type !== 'ed25519')
    return { type, text: 'Sigstore bundle (verified only against the publishers in the policy)' };
  const { key } = signature;
  const good = isGoodEd25519(signature, lock);
  return { type, key, good, text: `${good ? 'good' : 'BAD '}  ${key}` };
}

function lockOf({ bundle }: Skill): { dir: string; lock: Buffer } {
  if (bundle.lock === 'locked')
    return { dir: bundle.sourceDir, lock: readFileSync(join(bundle.sourceDir, 'skill.lock')) };
  throw new SkillError('usage', `The skill "${bundle.manifest.name}" has no skill.lock to sign`, {
    fix: `Create it first: skillcell lock ${shellWord(bundle.sourceDir)}`,
  });
}

function readKey(file: string | undefined): string {
  if (file !== undefined) return readText(file, 'private key');
  throw new SkillError('usage', 'No private key was given', {
    fix: 'Pass one with --key FILE, or create one with --new-key FILE.',
  });
}

/** Never overwrites a file: an overwritten key is lost. */
function writeNewKey(file: string, json: boolean | undefined): string {
  const { privateKey, publicKey } = makeKeyPair();
  try {
    writeFileSync(file, privateKey, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new SkillError('usage', `Cannot write the new key to "${file}"`, {
      fix: 'Choose a file that does not exist yet, in a folder you can write to.',
      cause,
    });
  }
  if (!json) printLine(`New key in ${file}. For policies: key: "${publicKey}"`);
  return privateKey;
}

function invalid(name: string, reason: string): SkillError {
  return new SkillError('signature_invalid', `The skill "${name}" has no valid signature: ${reason}`, {
    fix: 'Get a signed copy from its publisher, or add the publisher to the policy.',
  });
}
