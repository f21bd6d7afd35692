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
  SkillError,
  signLock,
  type Skill,
} from '../../index.ts';
import { openRuntime, readText } from '../open-runtime.ts';
import { printLine } from '../output.ts';

export interface SignFlags {
  key?: string;
  newKey?: string;
}

export async function sign(ref: string, flags: SignFlags): Promise<number> {
  const pem = flags.newKey === undefined ? readKey(flags.key) : writeNewKey(flags.newKey);
  await using runtime = openRuntime();
  const { dir, lock } = lockOf(await runtime.load(ref));
  const made = signLock(lock, pem);
  const file = join(dir, 'skill.sig');
  const others = existsSync(file)
    ? parseSignatures(readFileSync(file)).signatures.filter(
        (one) => one.type !== 'ed25519' || one.key !== made.key,
      )
    : [];
  writeFileSync(file, formatSignatures({ version: 1, signatures: [...others, made] }));
  printLine(`Signed ${ref} with ${made.key}`);
  return 0;
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
    else printLine('sigstore bundle (checked only against a publisher of the policy)');
  }
  const { publisher } = runtime.standing(skill);
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
      fix: `Make one first: skillcell lock ${bundle.sourceDir}`,
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
