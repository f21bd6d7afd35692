/**
 * Signs every locked skill in a folder with a key that is in no repository. Run this for a release, before packing:
 *
 *     node scripts/with-node.js scripts/sign-skills.ts --key <private key> [folder, default: skills]
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { main as skillcell } from '../src/cli/main.ts';
import { findBundles } from '../src/study/find-bundles.ts';
import { ROOT } from './steps.ts';

const MOST = 1000;

/** Returns the exit code of the first command that failed, otherwise 0. */
export async function signSkills(folder: string, key: string): Promise<number> {
  const locked = findBundles(folder, MOST).filter(({ dir }) => existsSync(join(dir, 'skill.lock')));
  for (const { dir } of locked) {
    const code = await skillcell(['sign', dir, '--key', key]);
    if (code !== 0) return code;
  }
  console.log(`${locked.length} skills signed`);
  return 0;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { key: { type: 'string' } }, allowPositionals: true });
  if (values.key === undefined) {
    console.error('Pass the private key of the release with --key FILE.');
    process.exitCode = 2;
  } else process.exitCode = await signSkills(resolve(positionals[0] ?? join(ROOT, 'skills')), values.key);
}
