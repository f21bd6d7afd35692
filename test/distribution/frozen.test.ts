/**
 * `install --frozen`: exactly the pinned bytes, from the store or from the source, and nothing of this machine's trust.
 */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSources } from '../../src/distribution/open.ts';
import { installFrozen, type FrozenSkill } from '../../src/distribution/frozen.ts';
import { fetchedFolder } from '../../src/load/fetched.ts';
import { readBundle } from '../../src/load/read-bundle.ts';
import type { SkillPin } from '../../src/load/skills-lock.ts';
import { ID, newKey, newPerson, refusalOf, sign, type Person } from './machine.ts';

function frozen({ runtime, place, source }: Person): Promise<FrozenSkill[]> {
  return installFrozen({ runtime, place, open: source.open });
}

/** A project with one pin, and how often its source was asked so far. */
async function withPin(key?: string): Promise<{ person: Person; pin: SkillPin }> {
  const person = newPerson();
  await person.offer('1.0.0', key === undefined ? {} : { key });
  await person.add();
  const pin = person.pin();
  if (!pin) throw new Error('There is no pin');
  return { person, pin };
}

describe('a clone on another machine', () => {
  test('gets exactly these bytes, runs them, and trusts nobody because of it', async () => {
    const { person, pin } = await withPin(newKey().privateKey);
    const other = newPerson({ root: join(person.folder, 'source') });
    other.writePins({ [ID]: pin });
    expect(other.runtime.list().map(({ ref }) => ref)).not.toContain(ID);
    expect(await frozen(other)).toMatchObject([{ id: ID, cached: false }]);
    const found = other.runtime.list().find(({ ref }) => ref === ID);
    expect(found?.origin).toBe('external');
    const { result } = await other.runtime.execute(ID, { text: 'a' });
    expect(result).toEqual({ text: 'A' });
    expect(existsSync(join(other.place.home, 'signers'))).toBe(false);
    expect(existsSync(join(other.place.home, 'approvals'))).toBe(false);
  });

  test('uses the copy that is here without asking the source', async () => {
    const { person } = await withPin();
    const before = person.source.fetches;
    expect(await frozen(person)).toMatchObject([{ cached: true }]);
    expect(person.source.fetches).toBe(before);
  });

  test('fetches a damaged copy again', async () => {
    const { person, pin } = await withPin();
    const file = join(fetchedFolder(person.place.home, ID, pin), 'skill.py');
    const text = readFileSync(file, 'utf8');
    chmodSync(file, 0o600);
    writeFileSync(file, 'pass\n');
    expect(await frozen(person)).toMatchObject([{ cached: false }]);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

describe('refuses', () => {
  test('other bytes at the source', async () => {
    const { person } = await withPin();
    rmSync(join(person.place.home, 'fetched'), { recursive: true });
    await person.offer('1.0.0', { files: { 'notes.txt': 'x' } });
    expect(await refusalOf(frozen(person))).toMatchObject({ code: 'manifest_drift' });
  });

  test('a pin with other capabilities, version or signer than its files', async () => {
    const { person, pin } = await withPin();
    const lies: [Partial<SkillPin>, string][] = [
      [{ capabilities: ['network https://a.example'] }, 'another capabilities of'],
      [{ version: '9.0.0' }, 'another version of'],
      [{ signer: { key: newKey().publicKey } }, 'signer'],
      [{ signer: { identity: 'release@a.example', issuer: 'https://login.a.example' } }, 'another signer of'],
    ];
    for (const [lie, sentence] of lies) {
      person.writePins({ [ID]: { ...pin, ...lie } });
      const error = await refusalOf(frozen(person));
      expect(error.message).toContain(sentence);
    }
  });

  test.each([
    ['oci://127.0.0.1:1/a/b', '../../../admin?x=1', 'neither a tag nor a digest'],
    ['oci://127.0.0.1:1/../b', `sha256:${'0'.repeat(64)}`, 'is not a reference'],
    ['github:Owner/Repository', 'a'.repeat(40), 'does not write the source'],
    ['github:owner/repository', 'main', 'not a commit'],
    ['git+http://127.0.0.1:1/a.git', 'main', 'not a commit'],
  ])('a pin of %s at %s, before anything is requested', async (source, revision, reason) => {
    const { person, pin } = await withPin();
    person.writePins({ [ID]: { ...pin, source, revision, digest: `sha256:${'0'.repeat(64)}` } });
    const { runtime, place } = person;
    const open = openSources({ cwd: place.cwd });
    const error = await refusalOf(installFrozen({ runtime, place, open }));
    expect(error.message).toContain(reason);
  });

  test('a pin with another name than the skill', async () => {
    const { person, pin } = await withPin();
    person.writePins({ 'finance/pay': pin });
    expect((await refusalOf(frozen(person))).message).toContain('the skill calls itself');
  });

  test('a signer who is not the one of the first use here', async () => {
    const { person, pin } = await withPin(newKey().privateKey);
    const other = newKey();
    sign(join(person.folder, 'source', '1.0.0'), other.privateKey);
    person.writePins({ [ID]: { ...pin, signer: { key: other.publicKey } } });
    const error = await refusalOf(frozen(person));
    expect(error).toMatchObject({ code: 'signature_invalid' });
    expect(error.message).toContain('when it was first used here');
  });

  test('a signed lock beside files that it does not list', async () => {
    const { privateKey } = newKey();
    const { person, pin } = await withPin(privateKey);
    const evil = await person.offer('1.0.0', { files: { 'more.py': 'x = 1\n' }, unlocked: true });
    const good = fetchedFolder(person.place.home, ID, pin);
    for (const file of ['skill.lock', 'skill.sig'])
      writeFileSync(join(evil, file), readFileSync(join(good, file)));
    const { pinned } = await person.source.fetch('file:/made-up/shout@1.0.0');
    const { digest } = readBundle(evil);
    person.writePins({ [ID]: { ...pin, digest, revision: pinned.revision } });
    const error = await refusalOf(frozen(person));
    expect(error.message).toContain('differs from its skill.lock');
  });
});
