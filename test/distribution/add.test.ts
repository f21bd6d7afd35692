/**
 * What happens to a delivery: it is read, judged, pinned and kept, or refused with a sentence of its own.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PREDICATES, signStatement } from '../../src/distribution/attest/statement.ts';
import { installFrozen } from '../../src/distribution/frozen.ts';
import { fetchedFolder } from '../../src/load/fetched.ts';
import type { SkillPin } from '../../src/load/skills-lock.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import type { SourceRules } from '../../src/policy/source-rules.ts';
import { ATTACHMENT_TYPES } from '../../src/vocabulary/oci-types.ts';
import { writeSkill } from '../write-skill.ts';
import { ID, newKey, newPerson, refusalOf, sign, SOURCE, type Person } from './machine.ts';

function must(pin: SkillPin | undefined): SkillPin {
  if (!pin) throw new Error('There is no pin');
  return pin;
}

function drafts({ place }: Person): string[] {
  const folder = join(place.home, 'fetched');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('.')) : [];
}

describe('adding', () => {
  test('a skill is pinned, kept and runs like an installed one', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    const { asks, facts } = await person.add();
    expect(asks.length).toBeGreaterThan(0);
    expect(Object.fromEntries(facts)['signed by']).toContain('nobody');
    const found = person.runtime.list().find(({ ref }) => ref === ID);
    expect(found).toMatchObject({ origin: 'installed', ids: [ID] });
    const { result } = await person.runtime.execute(ID, { text: 'hello' });
    expect(result).toEqual({ text: 'HELLO' });
    expect(drafts(person)).toEqual([]);
  });

  test('a skill that takes the place of a bundled one says so first', async () => {
    const person = newPerson();
    await person.offer('1.0.0', { manifest: { name: 'text/word_stats_rust' } });
    const { warnings } = await person.add();
    expect(warnings[0]).toContain('it takes the place of the bundled skill "text/word_stats_rust"');
  });

  test('a skill that nobody accepted leaves nothing', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    (await person.propose())[Symbol.dispose]();
    expect(drafts(person)).toEqual([]);
    expect(person.pin()).toBeUndefined();
    expect(existsSync(join(person.place.cwd, 'skills.lock.json'))).toBe(false);
  });

  test('a delivery whose bundle is not the one that the source claims is refused', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    person.source.claimedDigest = `sha256:${'0'.repeat(64)}`;
    const error = await refusalOf(person.propose());
    expect(error).toMatchObject({ code: 'manifest_drift' });
    expect(error.message).toContain('are not the ones that were published');
    expect(drafts(person)).toEqual([]);
  });

  test('a skill without a lock is not to be locked here, because every byte of it is pinned', async () => {
    const person = newPerson();
    await person.offer('1.0.0', { unlocked: true });
    expect((await person.add()).warnings).toEqual([]);
    const { bundle } = await person.runtime.load(ID);
    expect(bundle).toMatchObject({ lock: 'unlocked', warnings: [] });
  });

  test('files that the rules of a bundle leave out are not kept', async () => {
    const person = newPerson();
    await person.offer('1.0.0', { files: { '.skillignore': '' } });
    await person.add();
    const folder = fetchedFolder(person.place.home, ID, must(person.pin()));
    expect(readdirSync(folder)).toContain('skill.lock');
  });
});

describe('what changed since the pin', () => {
  test('one changed byte under the same version is refused as a moved version', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    await person.offer('1.0.0', { files: { 'notes.txt': 'x' } });
    const error = await refusalOf(person.propose());
    expect(error.code).toBe('manifest_drift');
    expect(error.message).toContain('Somebody moved version "1.0.0"');
    (await person.propose('1.0.0', { moved: true }))[Symbol.dispose]();
  });

  test('another signer, and no signer any more, are refused', async () => {
    const person = newPerson();
    const [one, other] = [newKey(), newKey()];
    await person.offer('1.0.0', { key: one.privateKey });
    await person.add();
    expect(person.pin()?.signer).toEqual({ key: one.publicKey });
    await person.offer('1.1.0', { key: other.privateKey });
    const changed = await refusalOf(person.propose('1.1.0'));
    expect(changed.code).toBe('signature_invalid');
    expect(changed.message).toContain('Another signer signs');
    await person.offer('1.1.0');
    const unsigned = await refusalOf(person.propose('1.1.0'));
    expect(unsigned.code).toBe('signature_invalid');
    expect(unsigned.message).toContain('now nobody signs it');
  });

  test('a pin without a signer does not hide the one whom this machine knows', async () => {
    const person = newPerson();
    await person.offer('1.0.0', { key: newKey().privateKey });
    await person.add();
    person.writePins({ [ID]: { ...must(person.pin()), signer: 'unsigned' } });
    await person.offer('1.1.0', { key: newKey().privateKey });
    const error = await refusalOf(person.propose('1.1.0'));
    expect(error).toMatchObject({ code: 'signature_invalid' });
    expect(error.message).toContain('Another signer signs');
  });

  test('a signature for other bytes is refused', async () => {
    const person = newPerson();
    const { privateKey } = newKey();
    const other = await person.offer('0.9.0', { key: privateKey });
    const folder = await person.offer('1.0.0', { key: privateKey });
    writeFileSync(join(folder, 'skill.sig'), readFileSync(join(other, 'skill.sig')));
    const error = await refusalOf(person.propose());
    expect(error.code).toBe('signature_invalid');
    expect(error.message).toContain('not valid for its files');
  });

  test('a signature without a lock is refused', async () => {
    const person = newPerson();
    const folder = await person.offer('1.0.0', { key: newKey().privateKey });
    rmSync(join(folder, 'skill.lock'));
    expect(await refusalOf(person.propose())).toMatchObject({ code: 'signature_invalid' });
  });

  test('an older version is refused, also behind a tag that moves', async () => {
    const person = newPerson();
    await person.offer('2.0.0', { tag: 'latest' });
    await person.add('latest');
    await person.offer('1.9.0', { tag: 'latest' });
    const error = await refusalOf(person.propose('latest'));
    expect(error.code).toBe('untrusted');
    expect(error.message).toContain('"1.9.0" of "text/shout" is older than "2.0.0"');
    (await person.propose('latest', { downgrade: true }))[Symbol.dispose]();
  });

  test('more capabilities are shown line by line', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    await person.offer('1.1.0', {
      manifest: { capabilities: { network: [{ host: 'api.example', methods: ['GET'] }] } },
    });
    using proposal = await person.propose('1.1.0');
    expect(proposal.change.wantsMore).toBe(true);
    expect(proposal.change.capabilities.join('\n')).toMatch(/^\+ network .*api\.example/m);
  });

  test('a pin that says more than its files hides nothing of an update, nor an older version', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    const capabilities = [{ host: 'api.example', methods: ['GET'] }];
    await person.offer('1.1.0', { manifest: { capabilities: { network: capabilities } } });
    const wanted = await person.propose('1.1.0').then((proposal) => {
      using shown = proposal;
      return shown.arrival.pin.capabilities;
    });
    for (const lie of [{ capabilities: wanted }, { version: '0.1.0', tag: '0.1.0' }]) {
      person.writePins({ [ID]: { ...must(person.pin()), ...lie } });
      const error = await refusalOf(person.propose('1.1.0'));
      expect(error.message).toContain('than the files that were accepted here');
    }
  });

  test('an unsigned skill may become signed, and then its signer is known', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    const { privateKey, publicKey } = newKey();
    await person.offer('1.1.0', { key: privateKey });
    await person.add('1.1.0');
    expect(person.pin()?.signer).toEqual({ key: publicKey });
  });
});

describe('a rule that demands an attestation', () => {
  const rules = (key: string, demanded: string[]): SourceRules => ({
    rules: [{ match: '*', requireSignature: false, requireAttestation: demanded as ['study'] }],
    publishers: [{ name: 'acme', key }],
  });

  /** The operator demands a study by acme, and another policy file calls somebody else by that name. */
  async function twoAcmes(): Promise<{
    person: Person;
    attest: (key: string) => void;
    keys: ReturnType<typeof newKey>[];
  }> {
    const keys = [newKey(), newKey()];
    const [ours, other] = keys.map(({ publicKey }) => publicKey);
    const publishers = [ours, other].map((key) => ({ name: 'acme', key: key ?? '' }));
    const sources = [rules(ours ?? '', ['study']), rules(other ?? '', [])];
    const person = newPerson({
      policy: { ...parsePolicy('', { file: 'policy.yaml' }), publishers, sources },
    });
    await person.offer('1.0.0');
    const lock = readFileSync(join(person.folder, 'source', '1.0.0', 'skill.lock'));
    const attest = (key: string): void => {
      const bytes = signStatement(lock, { predicateType: PREDICATES.study, predicate: {} }, key);
      person.source.attachments = [{ artifactType: ATTACHMENT_TYPES.dsse, digest: 'sha256:1', bytes }];
    };
    return { person, attest, keys };
  }

  test('is not met by another key whom another policy file gives the same name', async () => {
    const { person, attest, keys } = await twoAcmes();
    attest(keys[1]?.privateKey ?? '');
    expect((await refusalOf(person.propose())).message).toContain('has no study attestation');
    attest(keys[0]?.privateKey ?? '');
    await person.add();
    const { runtime, place, source } = person;
    expect(await installFrozen({ runtime, place, open: source.open })).toMatchObject([{ cached: true }]);
  });
});

describe('a clone', () => {
  test('its pins do not make a skill an installed one', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    rmSync(join(person.place.home, 'accepted-skills'), { recursive: true });
    const found = person.runtime.list().find(({ ref }) => ref === ID);
    expect(found?.origin).toBe('external');
  });

  test('its pins cannot give a skill another name', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    person.writePins({ 'finance/pay': must(person.pin()) });
    expect(person.runtime.list().map(({ ref }) => ref)).not.toContain('finance/pay');
  });

  test('it cannot make this machine forget who signs a source', async () => {
    const person = newPerson();
    const [one, other] = [newKey(), newKey()];
    await person.offer('1.0.0', { key: one.privateKey });
    await person.add();
    const folder = await person.offer('1.1.0', { key: one.privateKey });
    sign(folder, other.privateKey);
    person.writePins({});
    const error = await refusalOf(person.propose('1.1.0'));
    expect(error.code).toBe('signature_invalid');
    expect(error.message).toContain('when it was first used here');
  });
});

describe('the store', () => {
  /** Somebody who added the skill, and whose copy was changed to this text. */
  async function personWithCopy(text: string): Promise<ReturnType<typeof newPerson>> {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    const file = join(fetchedFolder(person.place.home, ID, must(person.pin())), 'skill.py');
    chmodSync(file, 0o600);
    writeFileSync(file, text);
    return person;
  }

  test('a changed copy never loads', async () => {
    const person = await personWithCopy('def execute(params):\n    return {}\n');
    const error = await refusalOf(person.runtime.load(ID));
    expect(error.code).toBe('manifest_drift');
    expect(error.message).toContain('has changed since it was fetched');
  });

  test('adding a skill again replaces a damaged copy', async () => {
    const person = await personWithCopy('pass\n');
    await person.add();
    const { result } = await person.runtime.execute(ID, { text: 'a' });
    expect(result).toEqual({ text: 'A' });
  });

  test('the same skill of two projects is kept once', async () => {
    const person = newPerson();
    await person.offer('1.0.0');
    await person.add();
    const { home } = person.place;
    const other = newPerson({ home, root: join(person.folder, 'source') });
    await other.add();
    expect(other.pin()).toEqual(person.pin());
    expect(readdirSync(join(person.place.home, 'fetched'))).toHaveLength(1);
  });

  test('a name that another skill has is refused before anything is pinned', async () => {
    const person = newPerson();
    writeSkill(person.place.cwd, { id: ID, source: 'def execute(params):\n    return {}\n' });
    await person.offer('1.0.0');
    const error = await refusalOf(person.propose());
    expect(error.code).toBe('usage');
    expect(error.message).toContain('Another skill has the name');
  });
});

test('the pin says everything that a reviewer needs', async () => {
  const person = newPerson();
  const { privateKey, publicKey } = newKey();
  await person.offer('1.0.0', { key: privateKey });
  await person.add();
  expect(person.pin()).toMatchObject({
    source: SOURCE,
    version: '1.0.0',
    tag: '1.0.0',
    signer: { key: publicKey },
    revision: expect.stringMatching(/^sha256:/) as string,
    lock: expect.stringMatching(/^sha256:/) as string,
    signature: expect.stringMatching(/^sha256:/) as string,
  });
});
