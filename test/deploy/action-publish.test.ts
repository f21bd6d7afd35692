/**
 * The steps of the action that publishes, run as GitHub runs them, with a registry and a Sigstore on loopback in place of
 * cosign and of the service that attests.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../../scripts/steps.ts';
import { sha256 } from '../../src/load/digest.ts';
import { removeTreeSync } from '../../src/load/remove-tree.ts';
import { OWN_ID, PersonLine } from '../distribution/person-line.ts';
import { startRegistry, type Registry } from '../distribution/registries.ts';
import { IDENTITY, ISSUER, openSigstore, statement, type LocalSigstore } from '../trust/local-sigstore.ts';

const FILE = join(ROOT, 'deploy/action/publish/action.yml');
const PROVENANCE = 'https://slsa.dev/provenance/v1';

interface Step {
  name: string;
  run?: string;
  uses?: string;
  env?: Record<string, string>;
}

const action = parse(readFileSync(FILE, 'utf8')) as {
  inputs: Record<string, unknown>;
  runs: { steps: Step[] };
};
let room = '';
let registry: Registry;
let sigstore: LocalSigstore;

beforeAll(async () => {
  // Cells of a root host are not root, and have to reach the homes.
  room = mkdtempSync(join(tmpdir(), 'skillcell-action-'));
  chmodSync(room, 0o711);
  registry = await startRegistry('distribution', join(room, 'registry'));
  sigstore = await openSigstore();
}, 120_000);

afterAll(async () => {
  await sigstore[Symbol.asyncDispose]();
  await registry.stop();
  removeTreeSync(room);
});

function person(name: string): PersonLine {
  const folder = join(room, name);
  mkdirSync(folder, { mode: 0o711 });
  return new PersonLine(folder);
}

/** Runs a step as `shell: bash` does, with the expressions of its variables replaced. */
function runStep(who: PersonLine, name: string, values: Record<string, string>): string {
  const step = action.runs.steps.find((one) => one.name === name);
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([key, text]) => [
      key,
      text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => values[expression] ?? ''),
    ]),
  );
  const output = who.write('output', '');
  const { status, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? 'false'],
    {
      cwd: who.project,
      encoding: 'utf8',
      env: {
        ...process.env,
        ...env,
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        SKILLCELL_HOME: who.home,
        GITHUB_ACTION_PATH: dirname(FILE),
        GITHUB_OUTPUT: output,
      },
    },
  );
  if (status !== 0) throw new Error(stderr);
  return readFileSync(output, 'utf8');
}

describe('the action that publishes', () => {
  test('signs with an identity and attests, so that a strict policy accepts the skill', async () => {
    const [author, who] = [person('author'), person('user')];
    const skill = author.writeSkill('1.0.0');
    await author.ok('lock', skill);
    const [host, work] = [registry.host, author.folder];
    const values = {
      'inputs.skill': skill,
      'inputs.reference': `oci://${host}/ci/stats`,
      'inputs.catalog': `oci://${host}/ci/catalog`,
      'runner.temp': work,
      'steps.attest.outputs.bundle-path': join(work, 'provenance.json'),
    };
    runStep(author, 'Write what is signed', values);
    const signature = await sigstore.sign(readFileSync(join(work, 'skillcell-payload')));
    author.write('skillcell-signature.json', JSON.stringify(signature.bundle));
    const lock = sha256(readFileSync(join(skill, 'skill.lock')));
    const provenance = await sigstore.attest(statement(PROVENANCE, lock));
    author.write('provenance.json', JSON.stringify(provenance.bundle));
    expect(runStep(author, 'Publish', values)).toMatch(/^digest=sha256:[0-9a-f]{64}\n$/);

    who.write('trusted_root.json', JSON.stringify(sigstore.root));
    const ci = { identity: IDENTITY, issuer: ISSUER, trusted_root: 'trusted_root.json' };
    const sources = [
      { match: `oci://${host}/ci/*`, require_attestation: ['provenance'], publishers: ['ci'] },
    ];
    const publishers = [{ name: 'ci', sigstore: ci }];
    const policy = ['--policy', who.write('policy.yaml', JSON.stringify({ publishers, sources }))];
    const found = await who.ok('search', 'stats', '--in', `oci://${host}/ci/catalog`, ...policy);
    expect(found).toContain(`signed by ci: ${IDENTITY} (says ${ISSUER})`);
    expect(found).toContain('provenance: signed by ci');
    await who.ok('add', `oci://${host}/ci/stats`, '--yes', ...policy);
    expect(who.pin(OWN_ID).signer).toEqual({ identity: IDENTITY, issuer: ISSUER });
  });

  test('fails for a skill without a lock', () => {
    const author = person('careless');
    const skill = author.writeSkill('1.0.0');
    rmSync(join(skill, 'skill.lock'), { force: true });
    writeFileSync(join(author.folder, 'output'), '');
    const values = { 'inputs.skill': skill, 'runner.temp': author.folder };
    expect(() => runStep(author, 'Write what is signed', values)).toThrow();
  });

  test('puts no expression into the text of a script, where a name could become a command', () => {
    expect(action.runs.steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });

  test('uses every input', () => {
    const text = readFileSync(FILE, 'utf8');
    const unused = Object.keys(action.inputs).filter((name) => !text.includes('${{ inputs.' + name + ' }}'));
    expect(unused).toEqual([]);
  });
});
