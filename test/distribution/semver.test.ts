import { describe, expect, test } from 'vitest';
import { isOlder } from '../../src/distribution/semver.ts';

describe('a version is older', () => {
  test.each([
    ['1.0.0', '2.0.0'],
    ['2.0.0-rc.1', '2.0.0'],
    ['1.0.0', '99999999999999999999999.0.0'],
    ['1.0', '2.0.0'],
    ['01.0.0', '2.0.0'],
    ['V1.0.0', 'v2.0.0'],
    ['1.0.0.7', '2.0.0'],
    ['1.0.0_rc', '2.0.0'],
    ['1.0rc1', '2.0.0'],
    ['1', '2'],
  ])('%s than %s, and not the other way round', (older, newer) => {
    expect([isOlder(older, newer), isOlder(newer, older)]).toEqual([true, false]);
  });

  test.each([
    ['latest', '2.0.0'],
    ['v2', '2.3.0'],
    ['1.0.0+9', '1.0.0'],
    ['0123456789abcdef0123456789abcdef01234567', 'ab23456789abcdef0123456789abcdef01234567'],
    ['12ab', '2.0.0'],
  ])('never, if nothing orders them: %s and %s', (one, other) => {
    expect([isOlder(one, other), isOlder(other, one)]).toEqual([false, false]);
  });
});
