import { expect, it } from 'vitest';
import { packageVersion, parseDependencies } from '../../../src/build/container/debian-packages.ts';

it('package dependencies are read, and the last of several alternatives is used', () => {
  const text =
    'python3-minimal\n  PreDepends: python3.13-minimal\n |Depends: dpkg\n  Depends: <virtual>\n  Depends: libc6\n<virtual>\n  libc6\nlibc6\n';
  expect([...parseDependencies(text)]).toEqual([
    ['python3-minimal', ['python3.13-minimal', 'libc6']],
    ['libc6', []],
  ]);
});

it.each([
  ['libc6_2.36-9+deb12u14_amd64.deb', 'libc6=2.36-9+deb12u14'],
  ['libcrypt1_1%3a4.4.33-2_amd64.deb', 'libcrypt1=1:4.4.33-2'],
])('the version comparison of %s is %s', (file, version) => {
  expect(packageVersion(file)).toBe(version);
});
