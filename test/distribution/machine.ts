/**
 * A machine of a person for tests: a home and a project, and a source with versions of one skill.
 *
 * @module
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { describeProposal, type Description } from '../../src/distribution/describe.ts';
import type { Allowances } from '../../src/distribution/judge.ts';
import { pinsOf, type PinPlace } from '../../src/distribution/pin-file.ts';
import { accept, propose, type Proposal } from '../../src/distribution/propose.ts';
import { SkillError } from '../../src/errors.ts';
import { formatSkillsLock, type SkillPin } from '../../src/load/skills-lock.ts';
import type { OperatorPolicy } from '../../src/policy/operator.ts';
import { createRuntime, type Runtime } from '../../src/runtime.ts';
import { formatSignatures, makeKeyPair, signLock } from '../../src/trust/signature.ts';
import { openFolder, removeFolder, writeSkill, type SkillText } from '../write-skill.ts';
import { FolderSource } from './folder-source.ts';

export const ID = 'text/shout';
export const SOURCE = 'file:/made-up/shout';

export interface Person {
  runtime: Runtime;
  place: PinPlace;
  source: FolderSource;
  /** Writes this version into the source and locks it. */
  offer: (version: string, skill?: Offer) => Promise<string>;
  /** Fetches and judges it; whoever calls this disposes of it. */
  propose: (version?: string, allow?: Allowances) => Promise<Proposal>;
  add: (version?: string, allow?: Allowances) => Promise<Description>;
  pin: () => SkillPin | undefined;
  writePins: (pins: Record<string, SkillPin>) => void;
  folder: string;
}

export interface Offer extends SkillText {
  key?: string;
  /** The tag in the source, if it is not the version of the skill. */
  tag?: string;
  unlocked?: boolean;
}

export const SHOUT = `
  def execute(params):
      return {'text': params['text'].upper()}
`;

/** To be called inside of a test. */
export function newPerson(
  options: { policy?: OperatorPolicy; folder?: string; home?: string; root?: string } = {},
): Person {
  const folder = options.folder ?? openFolder();
  const [project, root] = [join(folder, 'project'), options.root ?? join(folder, 'source')];
  for (const one of [project, root]) mkdirSync(one, { recursive: true });
  const runtime = createRuntime({
    home: options.home ?? join(folder, 'home'),
    cwd: project,
    pool: { size: 0 },
    ...(options.policy ? { policy: options.policy } : {}),
  });
  onTestFinished(async () => {
    await runtime.close();
    removeFolder(folder);
  });
  const place: PinPlace = { home: runtime.home, cwd: project };
  const source = new FolderSource(root);
  const proposeOne = async (version = '1.0.0', allow: Allowances = {}): Promise<Proposal> =>
    propose(await source.fetch(`${SOURCE}@${version}`), { runtime, place, allow: () => allow });
  return {
    ...{ runtime, place, source, folder },
    offer: (version, skill) => offer({ runtime, root, folder }, version, skill),
    propose: proposeOne,
    add: async (version, allow) => {
      using proposal = await proposeOne(version, allow);
      await accept(proposal, place, 'tester');
      return describeProposal(proposal);
    },
    pin: () => pinsOf(place).get(ID),
    writePins: (pins) =>
      writeFileSync(join(project, 'skills.lock.json'), formatSkillsLock(new Map(Object.entries(pins)))),
  };
}

async function offer(
  { runtime, root, folder }: { runtime: Runtime; root: string; folder: string },
  version: string,
  { key, tag = version, unlocked = false, manifest, ...text }: Offer = {},
): Promise<string> {
  const draft = writeSkill(join(folder, 'author'), {
    id: ID,
    source: SHOUT,
    ...text,
    manifest: { version, ...manifest },
  });
  rmSync(join(draft, 'skill.lock'), { force: true });
  rmSync(join(draft, 'skill.sig'), { force: true });
  if (!unlocked) await runtime.lock(draft);
  if (key !== undefined) sign(draft, key);
  const target = join(root, tag);
  rmSync(target, { recursive: true, force: true });
  cpSync(draft, target, { recursive: true });
  return target;
}

/** Signs the lock of a folder, instead of whoever signed it before. */
export function sign(dir: string, privateKey: string): void {
  const signature = signLock(readFileSync(join(dir, 'skill.lock')), privateKey);
  writeFileSync(join(dir, 'skill.sig'), formatSignatures({ version: 1, signatures: [signature] }));
}

export const newKey: typeof makeKeyPair = makeKeyPair;

/** The error of a proposal or another promise. */
export async function refusalOf(promise: Promise<unknown>): Promise<SkillError> {
  const outcome = await promise.catch((error: unknown) => error);
  if (outcome instanceof SkillError) return outcome;
  throw new Error('Expected a SkillError');
}
