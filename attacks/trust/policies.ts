/**
 * Policies that come with a project, below one of the operator: they want to take its place, or to name their own friends.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../../src/outcome.ts';
import { POLICY_FILE } from '../../src/policy/find-policy.ts';
import { policyInForce, trustPolicy } from '../../src/policy/in-force.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { makeKeyPair } from '../../src/trust/signature.ts';
import { group, type Careless, type TrustAttack } from './attack.ts';
import { asOutcome, type TrustStage } from './stage.ts';

const MINE = makeKeyPair();

interface Files {
  description: string;
  /** Of the operator, above the project. */
  above: string;
  /** That came with the project. */
  project: string;
  /** In the folder of the project that the victim works in; absent: the project itself. */
  nested?: string;
  params?: unknown;
  /** What the operator forbids and the nearest file alone does not. */
  careless: (nearest: ReturnType<typeof parsePolicy>) => boolean;
}

/** The victim works in the project, as `run`, `mcp --project` and `serve` do: with what is found from there upwards. */
async function callIn(stage: TrustStage, folder: string, params: unknown): Promise<Outcome> {
  const found = (): ReturnType<typeof policyInForce> => policyInForce({ folder, home: stage.home });
  const read = await asOutcome(found);
  if (!read.ok) return read;
  const policy = found();
  return stage.call(stage.stranger, { params, runtime: policy ? { policy } : {} });
}

function hiding(files: Files): Omit<TrustAttack, 'name' | 'codes' | 'limits'> {
  const { description, above, project, nested, params = {}, careless } = files;
  return {
    description,
    attempt: (stage) => {
      stage.write(stage.stranger);
      writeFileSync(join(stage.dir, POLICY_FILE), above);
      writeFileSync(join(stage.project, POLICY_FILE), project);
      const folder = nested === undefined ? stage.project : join(stage.project, 'deep', 'er');
      mkdirSync(folder, { recursive: true });
      if (nested !== undefined) writeFileSync(join(folder, POLICY_FILE), nested);
      return callIn(stage, folder, params);
    },
    control: takesNearest(nested ?? project, careless),
  };
}

const takesNearest =
  (text: string, careless: Files['careless']): Careless =>
  () =>
    careless(parsePolicy(text, { file: '/nearest' }))
      ? 'a loader that takes the nearest file finds nothing in it that forbids the call'
      : undefined;

const DENY = 'skills: [{ match: trust/*, decision: deny }]';
const saysNothing: Files['careless'] = ({ skills, guard }) =>
  (skills ?? []).every(({ decision }) => decision === 'allow') && guard === undefined;

/** Trusted as it was, and then the root that it names is another. */
async function swapRoot(stage: TrustStage): Promise<Outcome> {
  stage.write(stage.stranger);
  const file = join(stage.project, POLICY_FILE);
  const sigstore = { identity: 'a@acme.example', issuer: 'https://acme.example', trusted_root: 'root.json' };
  writeFileSync(file, JSON.stringify({ publishers: [{ name: 'acme', sigstore }] }));
  writeFileSync(join(stage.project, 'root.json'), '{"of":"acme"}');
  const before = readFileSync(file, 'utf8');
  trustPolicy(file, stage.home);
  writeFileSync(join(stage.project, 'root.json'), '{"of":"the attacker"}');
  stage.seen.push(
    readFileSync(file, 'utf8') === before ? 'no byte of the trusted policy file changed' : undefined,
  );
  return callIn(stage, stage.project, {});
}

export const POLICY_ATTACKS: readonly TrustAttack[] = [
  ...group(['untrusted'], {
    policy_empty_below: hiding({
      description: 'Brings an empty policy with the project, below one that denies it.',
      above: DENY,
      project: '{}',
      careless: saysNothing,
    }),
    policy_empty_twice_below: hiding({
      description: 'Brings empty policies on two levels, below one that denies it.',
      above: DENY,
      project: '{}',
      nested: '# nothing\n',
      careless: saysNothing,
    }),
    policy_allows_below: hiding({
      description: 'Brings a policy that allows it by name, below one that denies it.',
      above: DENY,
      project: 'skills: [{ match: trust/*, decision: allow }]',
      careless: saysNothing,
    }),
    policy_drops_guard: hiding({
      description: 'Brings a policy whose guard allows a call that the guard above denies.',
      above: 'guard: [{ arguments: [{ path: $.amount, above: 10 }], decision: deny, reason: too much }]',
      project: 'guard: [{ decision: allow, reason: fine }]',
      params: { amount: 5000 },
      careless: ({ guard = [] }) => guard.every(({ decision }) => decision === 'allow'),
    }),
    policy_raises_ceiling: hiding({
      description: 'Brings a ceiling below the default, and above that of the operator.',
      above: 'ceilings: { memory: 64MiB }',
      project: 'ceilings: { memory: 1GiB }',
      careless: ({ ceilings }) => ceilings.memory > 64 * 1024 * 1024,
    }),
    policy_names_variables: hiding({
      description: 'Brings a policy that names the variables that its skills want.',
      above: '{}',
      project: 'env: { allow: [AWS_SECRET_ACCESS_KEY] }',
      careless: ({ env }) => env.allow?.includes('AWS_SECRET_ACCESS_KEY') === true,
    }),
    policy_names_publisher: hiding({
      description: 'Brings a policy that names its author as a trusted publisher.',
      above: 'skills: [{ match: trust/*, decision: allow, require_signature: true }]',
      project: `publishers: [{ name: acme, key: "${MINE.publicKey}" }]`,
      careless: ({ publishers = [] }) => publishers.length > 0,
    }),
    policy_root_swapped: {
      description: 'Replaces the trusted root that a trusted policy names.',
      attempt: swapRoot,
      control: ({ seen }) => seen[0],
    },
  }),
  ...group(['approval_required'], {
    policy_skips_question: hiding({
      description: 'Brings a policy that allows what the one above asks a person about.',
      above: 'skills: [{ match: "*", decision: ask }]',
      project: 'skills: [{ match: "*", decision: allow }]',
      careless: saysNothing,
    }),
  }),
  ...group(['signature_invalid'], {
    policy_skips_signature: hiding({
      description: 'Brings a policy that allows unsigned what the one above demands a signature of.',
      above: 'skills: [{ match: "*", decision: allow, require_signature: true }]',
      project: 'skills: [{ match: "*", decision: allow }]',
      careless: ({ skills = [] }) => skills.every(({ requireSignature }) => !requireSignature),
    }),
  }),
];
