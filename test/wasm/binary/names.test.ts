import { describe, expect, test } from 'vitest';
import { isExternName, isLabel, uniquenessKey } from '../../../guest/wasm/binary/names.ts';
import { words } from '../../words.ts';

describe('a kebab-case label', () => {
  test.each(['a', 'a-b-c', 'a1-2-3', 'A', 'A-B-C', 'm1x3d-4CR0NYMS', 'get-JSON'])('can be %s', (label) => {
    expect(isLabel(label)).toBe(true);
  });

  test.each(['', '1-2', 'a-', '-a', 'a--b', 'aB', 'a_b', 'ä', 'a b', "a'", 'a\n', '__proto__'])(
    'cannot be %j',
    (text) => {
      expect(isLabel(text)).toBe(false);
    },
  );
});

describe('an import or export name', () => {
  test.each(
    words(
      'execute wasi:http/types@0.2.1 wasi:cli/run wasi:cli/run@0.2 a-b:c-d/e-F@1.2.3-rc.1+b-5',
      '[constructor]foo [method]foo.bar-baz [static]foo.bar',
    ),
  )('can be %s', (name) => {
    expect(isExternName(name)).toBe(true);
  });

  test.each([
    ...words(
      'wasi:http wasi/http wasi:http/types@ wasi:http/types@0.2.1@3 wasi:http/a/b a:b:c/d',
      'Wasi:http/types [method]foo [method]foo.bar.baz [constructor]foo.bar [dtor]foo',
      'unlocked-dep=<a:b>',
    ),
    "x'];process.exit();//",
  ])('cannot be %j', (name) => {
    expect(isExternName(name)).toBe(false);
  });

  test('is checked quickly even if it is long and hostile', () => {
    expect(isLabel(`a${'-1'.repeat(500)}-`)).toBe(false);
    expect(isExternName(`a:b/c@1.2.3-${'.-'.repeat(500)}!`)).toBe(false);
  });

  test('has the same key as another that bindings would confuse with it', () => {
    const same = [
      ['foo', 'FOO'],
      ['[method]foo.bar', '[static]foo.BAR'],
      ['[method]foo.foo', 'foo'],
    ] as const;
    for (const [one, other] of same) expect(uniquenessKey(one)).toBe(uniquenessKey(other));
    expect(uniquenessKey('[constructor]foo')).not.toBe(uniquenessKey('foo'));
  });
});
