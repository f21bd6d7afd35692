import { describe, expect, test } from 'vitest';
import { formatSkillsLock, parseSkillsLock, type SkillPin } from '../../src/load/skills-lock.ts';
import { thrownBy } from '../thrown.ts';

const PIN: SkillPin = {
  source: 'oci://registry.example/a',
  version: '1.0.0',
  revision: `sha256:${'0'.repeat(64)}`,
  digest: `sha256:${'1'.repeat(64)}`,
  signer: 'unsigned',
  capabilities: ['network https://é.example:443'],
};

const pin = (changes: Partial<SkillPin> = {}): string => JSON.stringify({ ...PIN, ...changes });
const file = (skills: string): string => `{"version":1,"skills":{${skills}}}`;

describe('skills.lock.json', () => {
  test('is read as it was written, also without its spaces', () => {
    const text = formatSkillsLock(new Map([['a/b', PIN]]));
    expect(parseSkillsLock(text).get('a/b')).toEqual(PIN);
    expect(parseSkillsLock(JSON.stringify(JSON.parse(text)))).toEqual(parseSkillsLock(text));
  });

  test.each([
    ['two pins with one name', file(`"a/b":${pin()},"a/b":${pin({ version: '2.0.0' })}`), 'a key twice'],
    ['one digest twice', file(`"a/b":${pin().replace('{', `{"digest":"${PIN.digest}",`)}`), 'a key twice'],
    ['a name with escapes', file(`"\\u0061/b":${pin()}`), 'escapes'],
    ['a name that every object has', file(`"__proto__":${pin()}`), 'category/name'],
    ['a pin with such a name inside', file(`"a/b":${pin().replace('{', '{"__proto__":{},')}`), '__proto__'],
    ['a conflict of git', `<<<<<<< HEAD\n${file('')}\n=======\n{}\n>>>>>>> other\n`, 'not valid JSON'],
    ['a name that turns the text around', file(`"a/b":${pin({ tag: '1\u202e0' })}`), 'invisible'],
  ])('is refused with %s', (_, text, reason) => {
    const error = thrownBy(() => parseSkillsLock(text));
    expect(error).toMatchObject({ code: 'manifest_invalid' });
    expect(error.message).toContain(reason);
  });
});
