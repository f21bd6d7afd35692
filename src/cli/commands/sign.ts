/**
 * `skillcell sign` and `skillcell verify`
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  parseSignatures,
  shellWord,
  SkillError,
  signedBytes,
  signLock,
  type Signature,
  type Skill,
} from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine } from '../output.ts';
import { readText } from '../read-text.ts';

export interface SignFlags {
  key?: string;
  newKey?: string;
  payload?: string;
  attach?: string;
}

export async function sign(ref: string, flags: SignFlags): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { dir, lock } = lockOf(await runtime.load(ref));
  if (flags.payload !== undefined) {
    writeFileSync(flags.payload, signedBytes(lock));
    printLine(`Wrote what is to be signed to ${flags.payload}`);
    return 0;
  }
  const made = flags.attach === undefined ? withKey(lock, flags) : readBundle(flags.attach);
  addSignature(join(dir, 'skill.sig'), made);
  printLine(`Signed ${ref} with ${made.type === 'ed25519' ? made.key : 'a Sigstore bundle'}`);
  return 0;
}

function withKey(lock: Buffer, { key, newKey }: SignFlags): Signature {
  return signLock(lock, newKey === undefined ? readKey(key) : writeNewKey(newKey));
}

function readBundle(file: string): Signature {
  try {
    const bundle = JSON.parse(readText(file, 'Sigstore bundle')) as Record<string, unknown>;
    return { type: 'sigstore', bundle };
  } catch (cause) {
    throw new SkillError('usage', `The file "${file}" holds no Sigstore bundle in JSON`, {
      fix: 'Give the bundle that your Sigstore tool wrote for the file of --payload.',
      cause,
    });
  }
}

/** A new signature takes the place of an older one by the same key; others stay. */
function addSignature(file: string, made: Signature): void {
  const present = existsSync(file) ? parseSignatures(readFileSync(file)).signatures : [];
  const isReplaced = (one: Signature): boolean =>
    one.type === 'ed25519' && made.type === 'ed25519' && one.key === made.key;
  const others = present.filter((one) => !isReplaced(one));
  writeFileSync(file, formatSignatures({ version: 1, signatures: [...others, made] }));
}

/** Which signatures are good, and whether one is by a publisher of the policy. */
export async function verify(ref: string, flags: { policy?: string }): Promise<number> {
  await using runtime = openRuntime(flags);
  const skill = await runtime.load(ref);
  const { vouched, manifest } = skill.bundle;
  if (!vouched) throw invalid(manifest.name, 'it has no skill.lock with a skill.sig beside it');
  for (const signature of parseSignatures(vouched.signature).signatures) {
    if (signature.type === 'ed25519')
      printLine(`${isGoodEd25519(signature, vouched.lock) ? 'good' : 'BAD '}  ${signature.key}`);
    else printLine('Sigstore bundle, which counts for a publisher of the policy alone');
  }
  const { publisher } = await runtime.standing(skill);
  if (publisher === undefined)
    throw invalid(manifest.name, 'no good signature is by a publisher of the policy');
  printLine(`${manifest.name} ${manifest.version} is signed by ${publisher}.`);
  return 0;
}

function lockOf({ bundle }: Skill): { dir: string; lock: Buffer } {
  if (bundle.lock === 'locked')
    return { dir: bundle.sourceDir, lock: readFileSync(join(bundle.sourceDir, 'skill.lock')) };
  throw new SkillError(
    'usage',
    `The skill "${bundle.manifest.name}" has no skill.lock, which is what is signed`,
    {
      fix: `Make one first: skillcell lock ${shellWord(bundle.sourceDir)}`,
    },
  );
}

function readKey(file: string | undefined): string {
  if (file !== undefined) return readText(file, 'private key');
  throw new SkillError('usage', 'No private key was given', {
    fix: 'Give one with --key FILE, or make one with --new-key FILE.',
  });
}

/** The file must not exist: a key that is overwritten is lost for good. */
function writeNewKey(file: string): string {
  const { privateKey, publicKey } = makeKeyPair();
  try {
    writeFileSync(file, privateKey, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw new SkillError('usage', `Cannot write the new key to "${file}"`, {
      fix: 'Name a file that does not exist yet, in a folder of yours.',
      cause,
    });
  }
  printLine(`New key in ${file}. For policies: key: "${publicKey}"`);
  return privateKey;
}

function invalid(name: string, reason: string): SkillError {
  return new SkillError('signature_invalid', `The signature of "${name}" does not hold: ${reason}`, {
    fix: 'Get a signed copy from its publisher, or add the publisher to the policy.',
  });
}
