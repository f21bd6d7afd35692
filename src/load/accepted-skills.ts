/**
 * Remembers, in Skillcell's own folder, which fetched bytes a person of this machine accepted, and who signed a source
 * when it was first used here. `skills.lock.json` comes with a clone and decides neither.
 *
 * @module
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { quote, shellWord } from '../manifest/quote.ts';
import { sha256 } from './digest.ts';
import { fetchedKey, keyOfFolder } from './fetched.ts';
import { readPlainFile } from './plain-file.ts';
import { publishSync } from './publish.ts';
import { signerSchema, type Signer, type SkillPin } from './skills-lock.ts';

const MAX_RECORD_BYTES = 16 * 1024;

/** What a person accepted, and what had been verified then. */
export interface AcceptedSkill {
  skill: string;
  source: string;
  digest: string;
  by: string;
  at: string;
  /** Kinds of attestations that a trusted publisher had signed for these bytes. */
  attested: string[];
  /** Digest of what these bytes say about themselves, to notice a pin that says something else. */
  facts: string;
}

const accepted: z.ZodType<AcceptedSkill> = z.strictObject({
  skill: z.string(),
  source: z.string(),
  digest: z.string(),
  by: z.string(),
  at: z.iso.datetime(),
  attested: z.array(z.string()),
  facts: z.string(),
});

/** Version and capabilities, which follow from the bytes. */
export function factsOf({ version, capabilities }: SkillPin): string {
  return `sha256:${sha256(JSON.stringify([version, [...new Set(capabilities)].sort()]))}`;
}

/** A source and its signer at first use. */
const known = z.strictObject({ source: z.string(), signer: signerSchema, at: z.iso.datetime() });

/** Is this the folder of fetched bytes that a person of this machine accepted? Expects a real path. */
export function isAccepted(home: string, dir: string): boolean {
  const key = keyOfFolder(home, dir);
  const id = dir.split('/').slice(-2).join('/');
  return key !== undefined && existsSync(recordOf(home, id, key));
}

export function acceptedSkill(home: string, id: string, pin: SkillPin): AcceptedSkill | undefined {
  return accepted.safeParse(readRecord(recordOf(home, id, fetchedKey(pin)))).data;
}

export function recordAcceptedSkill(home: string, pin: SkillPin, record: AcceptedSkill): void {
  writeRecord(recordOf(home, record.skill, fetchedKey(pin)), record);
}

/** Who signed this source when it was first used on this machine. */
export function knownSigner(home: string, source: string): Signer | undefined {
  const file = signerFile(home, source);
  if (!existsSync(file)) return undefined;
  const found = known.safeParse(readRecord(file)).data;
  if (found?.source === source) return found.signer;
  // Forgetting a signer would let anybody take their place.
  throw new SkillError(
    'usage',
    `The record ${JSON.stringify(file)} of who signs ${quote(source)} is damaged`,
    {
      fix: `Restore it from a backup, or check who signs this source and remove it: rm ${shellWord(file)}`,
      detail: { file, source },
    },
  );
}

/** Pins the signer of a source for this machine. */
export function rememberSigner(home: string, source: string, signer: Signer): void {
  writeRecord(signerFile(home, source), { source, signer, at: new Date().toISOString() });
}

/** By name too: an Agent Skill without a name has that of its folder, which a clone could choose. */
function recordOf(home: string, id: string, key: string): string {
  return join(home, 'accepted-skills', `${sha256(`${id} ${key}`)}.json`);
}

function signerFile(home: string, source: string): string {
  return join(home, 'signers', `${sha256(source)}.json`);
}

/** An unreadable record says nothing. */
function readRecord(file: string): unknown {
  try {
    return JSON.parse(readPlainFile(file, MAX_RECORD_BYTES, (reason) => new Error(reason)) ?? 'null');
  } catch {
    return undefined;
  }
}

function writeRecord(file: string, record: object): void {
  const folder = join(file, '..');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify(record, null, 2)}\n`;
  publishSync(file, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }), { hideIn: folder });
}
