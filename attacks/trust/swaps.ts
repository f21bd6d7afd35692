/**
 * Files that change between review and run, and signatures made by or for someone else.
 *
 * @module
 */
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  type Ed25519Signature,
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  type Outcome,
  sha256,
  signLock,
} from '../../src/for-attacks.ts';
import { group, type Careless, type TrustAttack } from './attack.ts';
import { importsCode, overflows } from './careless.ts';
import { asOutcome, HARMLESS, policyOf, type TrustStage } from './stage.ts';

const ASK = 'skills: [{ match: trust/*, decision: ask }]';
const PUBLISHER = makeKeyPair();
const PUBLISHER_KEY = createPublicKey(PUBLISHER.privateKey);
const STRANGER = makeKeyPair();
const SIGNED = [
  'skills: [{ match: trust/*, decision: allow, require_signature: true }]',
  `publishers: [{ name: acme, key: "${PUBLISHER.publicKey}" }]`,
].join('\n');
/** A loader that checked once runs whatever is there now. */
const IMPORTS: Careless = (stage) => importsCode(stage);

const harmless = (stage: TrustStage, dir: string = stage.stranger): string =>
  stage.write(dir, { code: HARMLESS });

/** Approved, and then changed. */
async function swapAfterApproval(
  stage: TrustStage,
  manifest: Record<string, unknown> = {},
): Promise<Outcome> {
  harmless(stage);
  await stage.with({}, async (runtime) => {
    runtime.approvals.add((await runtime.load(stage.stranger)).bundle, 'somebody');
  });
  stage.write(stage.stranger, { manifest });
  return stage.call(stage.stranger, { policy: ASK });
}

/** Loaded and approved, and changed before it is called. */
function swapAfterLoad(stage: TrustStage): Promise<Outcome> {
  harmless(stage);
  return stage.with({ policy: policyOf(ASK) }, async (runtime) => {
    const skill = await runtime.load(stage.stranger);
    runtime.approvals.add(skill.bundle, 'somebody');
    stage.write(stage.stranger);
    return runtime.execute(skill, {}, { reject: false });
  });
}

/** The copy in the store is replaced, as a program of the same user could do. */
async function swapInStore(stage: TrustStage, spoil: (staged: string) => void): Promise<Outcome> {
  harmless(stage);
  const stagedDir = await stage.with({}, async (runtime) => {
    const { bundle } = await runtime.load(stage.stranger);
    runtime.approvals.add(bundle, 'somebody');
    return bundle.stagedDir;
  });
  chmodSync(stagedDir, 0o755);
  spoil(stagedDir);
  const stored = join(stage.dir, 'stored');
  cpSync(stagedDir, stored, { recursive: true, dereference: true });
  stage.seen.push(await importsCode(stage, stored));
  return stage.call(stage.stranger, { policy: ASK });
}

/** A loader that finds a copy of the digest runs it. */
const runsStored: Careless = ({ seen }) => seen[0];

/** A skill that its publisher locked and signed. */
async function publish(stage: TrustStage, dir: string): Promise<void> {
  harmless(stage, dir);
  await lock(stage, dir);
  writeSignature(dir, signLock(lockOf(dir), PUBLISHER.privateKey));
}

async function lock(stage: TrustStage, dir: string): Promise<void> {
  await stage.with({}, (runtime) => runtime.lock(dir));
}

const lockOf = (dir: string): Buffer => readFileSync(join(dir, 'skill.lock'));

function writeSignature(dir: string, signature: Ed25519Signature): void {
  writeFileSync(join(dir, 'skill.sig'), formatSignatures({ version: 1, signatures: [signature] }));
}

interface Forgery {
  description: string;
  /** Makes the attacker's bundle look signed; the original is in `original`. */
  forge: (dir: string, original: string) => void;
  /** Whether the attacker locks their own code; otherwise `forge` writes the lock. */
  locks?: boolean;
  /** A check that it passes nevertheless, and whether it does. */
  careless: [check: string, passes: (dir: string, original: string) => boolean];
}

function forgery({
  description,
  forge,
  locks = true,
  careless,
}: Forgery): Omit<TrustAttack, 'name' | 'codes' | 'limits'> {
  return {
    description,
    attempt: async (stage) => {
      const original = join(stage.dir, 'original', stage.skill);
      await publish(stage, original);
      stage.write(stage.stranger);
      if (locks) await lock(stage, stage.stranger);
      forge(stage.stranger, original);
      return stage.call(stage.stranger, { policy: SIGNED });
    },
    control: ({ stranger, dir, skill }) => {
      const [check, passes] = careless;
      return passes(stranger, join(dir, 'original', skill)) ? check : undefined;
    },
  };
}

const signatureText = (dir: string): string => readFileSync(join(dir, 'skill.sig'), 'utf8');
const firstOf = (dir: string): Ed25519Signature =>
  (JSON.parse(signatureText(dir)) as { signatures: [Ed25519Signature] }).signatures[0];
const namesPublisher = (dir: string): boolean => firstOf(dir).key === PUBLISHER.publicKey;
const isGoodByItself = (dir: string): boolean => isGoodEd25519(firstOf(dir), lockOf(dir));

/** Every file that the lock names matches it. */
function fitsLock(dir: string): boolean {
  const { files } = JSON.parse(lockOf(dir).toString()) as { files: Record<string, string> };
  return Object.entries(files).every(([path, digest]) => sha256(readFileSync(join(dir, path))) === digest);
}

/** As seen by a reader that copies every property into its own object. */
function inheritsPublisher(dir: string): boolean {
  const copied: Partial<Ed25519Signature> = {};
  for (const [name, value] of Object.entries(firstOf(dir)))
    if (name !== 'key') Object.assign(copied, JSON.parse(`{"${name}":${JSON.stringify(value)}}`));
  return copied.key === PUBLISHER.publicKey;
}

const strangers = (dir: string): Ed25519Signature => signLock(lockOf(dir), STRANGER.privateKey);
const copy = (name: string) => (dir: string, original: string) =>
  cpSync(join(original, name), join(dir, name));

/** The publisher's key may also sign other things. */
function otherPurpose(dir: string): void {
  const { signature } = { signature: sign(null, lockOf(dir), PUBLISHER.privateKey).toString('base64') };
  writeSignature(dir, { type: 'ed25519', key: PUBLISHER.publicKey, signature });
}

function twoKeys(dir: string): void {
  const { signature } = strangers(dir);
  const keys = `"key": "${STRANGER.publicKey}", "key": "${PUBLISHER.publicKey}"`;
  const text = `{ "version": 1, "signatures": [{ "type": "ed25519", ${keys}, "signature": "${signature}" }] }`;
  writeFileSync(join(dir, 'skill.sig'), text);
}

function inherited(dir: string): void {
  const { signature, key } = strangers(dir);
  const trick = `{ "type": "ed25519", "key": "${key}", "signature": "${signature}", "__proto__": { "key": "${PUBLISHER.publicKey}" } }`;
  writeFileSync(join(dir, 'skill.sig'), `{ "version": 1, "signatures": [${trick}] }`);
}

function otherAlgorithm(dir: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', lockOf(dir), privateKey).toString('base64');
  writeSignature(dir, { type: 'ed25519', key: PUBLISHER.publicKey, signature });
}

function bigSignature(dir: string): void {
  const text = formatSignatures({ version: 1, signatures: [strangers(dir)] });
  writeFileSync(join(dir, 'skill.sig'), `${text}${' '.repeat(2 * 1024 * 1024)}`);
}

function deepSignature(dir: string): void {
  const depth = 200_000;
  const bundle = `{ "a": ${'['.repeat(depth)}${']'.repeat(depth)} }`;
  writeFileSync(
    join(dir, 'skill.sig'),
    `{ "version": 1, "signatures": [{ "type": "sigstore", "bundle": ${bundle} }] }`,
  );
}

/** The lock lists less than there is. */
async function editedLock(
  stage: TrustStage,
  edit: (lock: Record<string, unknown>) => void,
): Promise<Outcome> {
  const network = [{ host: 'evil.example', methods: ['GET'] }];
  stage.write(stage.stranger, { manifest: { capabilities: { network } } });
  await lock(stage, stage.stranger);
  const told = JSON.parse(lockOf(stage.stranger).toString()) as Record<string, unknown>;
  edit(told);
  writeFileSync(join(stage.stranger, 'skill.lock'), JSON.stringify(told));
  return stage.call(stage.stranger);
}

/** The lock is swapped for a link after the skill was loaded, right before it is installed. */
function linkedLock(stage: TrustStage): Promise<Outcome> {
  harmless(stage);
  return asOutcome(async () => {
    await lock(stage, stage.stranger);
    const file = join(stage.stranger, 'skill.lock');
    rmSync(file);
    symlinkSync('/etc/passwd', file);
    await stage.with({}, (runtime) => runtime.install(stage.stranger));
    return { succeeded: true };
  });
}

export const SWAP_ATTACKS: readonly TrustAttack[] = [
  ...group(['approval_required'], {
    swap_code_after_approval: {
      description: 'Changes its code between approval and run.',
      attempt: (stage) => swapAfterApproval(stage),
      control: IMPORTS,
    },
    swap_capability_after_approval: {
      description: 'Requests a network that it did not request when it was approved.',
      attempt: (stage) => swapAfterApproval(stage, { capabilities: { network: [{ host: 'evil.example' }] } }),
      control: IMPORTS,
    },
  }),
  ...group(['ok'], {
    swap_code_after_load: {
      description: 'Changes its code between load and run.',
      attempt: swapAfterLoad,
      control: IMPORTS,
    },
    swap_code_in_store: {
      description: 'Is overwritten in the store after it was approved.',
      attempt: (stage) =>
        swapInStore(stage, (staged) => {
          const bad = stage.write(join(stage.dir, 'bad'));
          rmSync(join(staged, 'skill.js'));
          cpSync(join(bad, 'skill.js'), join(staged, 'skill.js'));
        }),
      control: runsStored,
    },
    add_file_in_store: {
      description: 'Gets a package.json in the store after it was approved.',
      attempt: (stage) =>
        swapInStore(stage, (staged) => writeFileSync(join(staged, 'package.json'), '{ "main": "evil.js" }')),
      control: { none: 'The effect of the file depends on its reader.' },
    },
    link_in_store: {
      description: "Is replaced in the store by a link to the attacker's folder.",
      attempt: (stage) =>
        swapInStore(stage, (staged) => {
          renameSync(staged, join(stage.dir, 'gone'));
          symlinkSync(stage.write(join(stage.dir, 'bad')), staged);
        }),
      control: runsStored,
    },
  }),
  ...group(['signature_invalid'], {
    lock_replaced: forgery({
      description: 'Brings a new lock for its code, with the old signature.',
      forge: copy('skill.sig'),
      careless: ['a loader that compares the files with the lock accepts them', fitsLock],
    }),
    lock_removed: forgery({
      description: 'Omits lock and signature where one is required.',
      locks: false,
      forge: () => undefined,
      careless: [
        'a loader that checks existing signatures finds none that is invalid',
        (dir) => !existsSync(join(dir, 'skill.sig')),
      ],
    }),
    signed_by_stranger: forgery({
      description: 'Has a valid signature by an untrusted key.',
      forge: (dir) => writeSignature(dir, strangers(dir)),
      careless: ['a loader that checks the signature with the key next to it accepts it', isGoodByItself],
    }),
    signed_with_named_key: forgery({
      description: "Names the publisher's key next to a signature by another key.",
      forge: (dir) => writeSignature(dir, { ...strangers(dir), key: PUBLISHER.publicKey }),
      careless: ['a loader that only compares keys finds the trusted one', namesPublisher],
    }),
    signed_for_other_purpose: forgery({
      description: 'Brings a signature of the publisher over the same bytes, made for something else.',
      forge: otherPurpose,
      careless: [
        'a signature over the bare bytes of the lock is valid',
        (dir) => verify(null, lockOf(dir), PUBLISHER_KEY, Buffer.from(firstOf(dir).signature, 'base64')),
      ],
    }),
    signed_by_other_algorithm: forgery({
      description: 'Brings a signature of another algorithm labelled as Ed25519.',
      forge: otherAlgorithm,
      careless: ['a loader that lets the file choose the algorithm uses it', namesPublisher],
    }),
    signature_with_two_keys: forgery({
      description:
        'Names two keys in one signature, for readers that take the first and readers that take the last.',
      forge: twoKeys,
      careless: ['one reader sees the trusted key, the other checks with the first', namesPublisher],
    }),
    signature_with_prototype: forgery({
      description: 'Brings the trusted key as a property of the prototype.',
      forge: inherited,
      careless: ['a loader that merges what it reads sees the trusted key', inheritsPublisher],
    }),
    signature_huge: forgery({
      description: 'Brings a signature of two megabytes.',
      forge: bigSignature,
      careless: ['a loader without a limit reads it all', (dir) => signatureText(dir).length > 1024 * 1024],
    }),
    signature_deep: forgery({
      description: 'Brings a signature that is nested two hundred thousand times.',
      forge: deepSignature,
      careless: [
        'a loader that walks it overflows its stack',
        (dir) => overflows(JSON.parse(signatureText(dir))) !== undefined,
      ],
    }),
  }),
  ...group(['manifest_drift'], {
    lock_and_signature_moved: forgery({
      description: "Brings lock and signature of the publisher's skill with its own code.",
      locks: false,
      forge: (dir, original) => ['skill.lock', 'skill.sig'].forEach((name) => copy(name)(dir, original)),
      careless: ['a loader that checks the signature of the lock accepts it', isGoodByItself],
    }),
    lock_hides_capability: {
      description: 'Has a lock that does not name the network that its manifest requests.',
      attempt: (stage) => editedLock(stage, (told) => (told['capabilities'] = [])),
      control: ({ stranger }) =>
        lockOf(stranger).includes('evil.example') ? undefined : 'the lock shows no host',
    },
  }),
  ...group(['manifest_invalid'], {
    lock_hides_file: {
      description: 'Has a lock that does not name its code.',
      attempt: (stage) =>
        editedLock(stage, (told) => delete (told['files'] as Record<string, string>)['skill.js']),
      control: ({ stranger }) => (fitsLock(stranger) ? 'everything that is listed matches' : undefined),
    },
    lock_is_link: {
      description: 'Has a lock that is a link to a file of the host.',
      attempt: linkedLock,
      control: ({ stranger }) =>
        readFileSync(join(stranger, 'skill.lock'), 'utf8').includes('root')
          ? 'it reads /etc/passwd'
          : undefined,
    },
  }),
];
