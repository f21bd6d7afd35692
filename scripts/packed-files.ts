/**
 * The allowed files of the packages that users install, as globs. A file that matches no glob is included by mistake; a glob
 * that matches no file is a missing part.
 *
 * @module
 */
import { matchesGlob } from 'node:path';

export type PackageName = 'skillcell' | 'skillcell-attacks';

const ALLOWED: Readonly<Record<PackageName, readonly string[]>> = {
  skillcell: [
    '{package.json,README.md,LICENSE,CHANGELOG.md,SECURITY.md,ARCHITECTURE.md}',
    'bin/*.js',
    'entry/*.js',
    'man/skillcell.1',
    'dist/src/**/*.{js,d.ts}',
    'dist/THIRD-PARTY.txt',
    // Shared by host and guest.
    'dist/guest/**/*.d.ts',
    // `skillcell bench`
    'dist/bench/runner/**/*.d.ts',
    'bench/plain.py',
    'bench/skills/**/*',
    'src/web/static/**/*',
    'guest/**/*.{ts,py,json,md,yaml,wit}',
    'guest/launch/{launch.c,x64,arm64}',
    'skills/**/*',
    'templates/**/*',
    'docs/**/*.{md,svg,png}',
  ],
  'skillcell-attacks': [
    '{package.json,README.md}',
    'dist/{main,names}.js',
    'subprocess/*.py',
    'python-wasm/*.py',
    'js-wasm/**/*.js',
    'network/{room,skill}/*.py',
    'runner/{benign,benign_js}/*',
    'runner/parts/*.{py,js}',
    'runner/preludes/*/*',
    'runner/room/*.{py,mjs}',
    'trust/attestations.json',
    'wasm/built/*.wasm',
  ],
};

/** What is wrong with the files of a tarball, which are all in `package/`. */
export function unexpectedFiles(name: PackageName, tarred: readonly string[]): string[] {
  const files = tarred.map((file) => file.replace(/^package\//, ''));
  const globs = ALLOWED[name];
  return [
    ...files
      .filter((file) => !globs.some((glob) => matchesGlob(file, glob)))
      .map((file) => `"${file}" is not meant for ${name}`),
    ...globs
      .filter((glob) => !files.some((file) => matchesGlob(file, glob)))
      .map((glob) => `nothing in ${name} matches "${glob}"`),
  ];
}
