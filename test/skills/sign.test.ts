/**
 * Signing the bundled skills for a release: all locked skills are signed, so that an operator can require signatures.
 */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signSkills } from '../../scripts/sign-skills.ts';
import { createRuntime, parsePolicy } from '../../src/index.ts';
import { makeKeyPair } from '../../src/inside.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { bundled, ours } from './copy-skill.ts';

const folder = openFolder();
const { privateKey, publicKey } = makeKeyPair();
const SIGNED = ['util/unit_convert', 'text/word_stats_c'];

beforeAll(async () => {
  process.env['SKILLCELL_HOME'] = join(folder, 'home');
  for (const name of [...SIGNED, 'text/word_stats_go'])
    cpSync(ours(name), join(folder, 'release', name), { recursive: true });
  writeFileSync(join(folder, 'key.pem'), privateKey, { mode: 0o600 });
  expect(await signSkills(join(folder, 'release'), join(folder, 'key.pem'))).toBe(0);
});

afterAll(() => {
  delete process.env['SKILLCELL_HOME'];
  removeFolder(folder);
});

const policyFor = (key: string): ReturnType<typeof parsePolicy> =>
  parsePolicy(
    `skills: [{ match: "*", decision: allow, require_signature: true }]\npublishers: [{ name: release, key: "${key}" }]`,
    { file: 'policy.yaml' },
  );

test('signing covers locked skills and nothing else', () => {
  for (const name of SIGNED) expect(existsSync(join(folder, 'release', name, 'skill.sig'))).toBe(true);
  expect(existsSync(join(folder, 'release', 'text/word_stats_go', 'skill.sig'))).toBe(false);
  expect(existsSync(bundled('util/unit_convert/skill.sig'))).toBe(false);
});

test('an operator can allow only signed skills', async () => {
  const home = join(folder, 'home');
  const params = { value: 1, from: 'km', to: 'm' };
  const signed = join(folder, 'release', 'util/unit_convert');
  await using runtime = createRuntime({ home, audit: false, policy: policyFor(publicKey) });
  expect((await runtime.execute(signed, params)).result).toMatchObject({ value: 1000 });
  await expect(runtime.execute(bundled('util/unit_convert'), params)).rejects.toMatchObject({
    code: 'signature_invalid',
  });
  await using other = createRuntime({ home, audit: false, policy: policyFor(makeKeyPair().publicKey) });
  await expect(other.execute(signed, params)).rejects.toMatchObject({ code: 'signature_invalid' });
});

test('signed files contain no private key', () => {
  const text = readFileSync(join(folder, 'release', 'util/unit_convert', 'skill.sig'), 'utf8');
  expect(text).toContain(publicKey);
  expect(text).not.toContain('PRIVATE');
});
