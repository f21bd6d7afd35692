/**
 * Finds the attacks: next to the source in a clone, otherwise in the separately installed package `skillcell-attacks`.
 * Nothing is downloaded.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot, packageVersion, SkillError } from '../inside.ts';
import type { AttackTarget } from '../vocabulary/command-choices.ts';

const PACKAGE = 'skillcell-attacks';

/** The export `suite` of the package. */
export interface AttackSuite {
  run(options: SuiteOptions): Promise<SuiteReport>;
}

export interface SuiteOptions {
  mode: AttackTarget;
  /** Only these attacks. */
  names?: readonly string[] | undefined;
  /** Called when an attack ends, in no particular order. */
  onVerdict: (verdict: string, name: string) => void;
}

export interface SuiteReport {
  rows: readonly { stopped: boolean }[];
  /** The rows as text. */
  table: string;
}

export async function loadAttacks(): Promise<AttackSuite> {
  const entry = findAttacks(packageRoot(), packageVersion());
  const { suite } = (await import(pathToFileURL(entry).href)) as { suite: AttackSuite };
  return suite;
}

/** Returns the file to import. `root` is the folder of the Skillcell package. */
export function findAttacks(root: string, version: string): string {
  const source = join(root, 'attacks', 'main.ts');
  if (existsSync(source)) return source;
  const installed = findInstalled(root);
  if (installed === undefined) throw missing('The attacks are not installed', root, version);
  if (installed.version !== version) {
    const found = `The installed attacks have version ${installed.version}, but Skillcell has version ${version}`;
    throw missing(found, root, version);
  }
  return installed.entry;
}

/** Resolves from Skillcell's own folder, never from the current one, which may be untrusted. */
function findInstalled(root: string): { entry: string; version: string } | undefined {
  const require = createRequire(join(root, 'package.json'));
  try {
    const description = JSON.parse(readFileSync(require.resolve(`${PACKAGE}/package.json`), 'utf8')) as {
      version: string;
    };
    return { entry: require.resolve(PACKAGE), version: description.version };
  } catch {
    return undefined;
  }
}

function missing(message: string, root: string, version: string): SkillError {
  // A global installation has no project whose dependency the package could be.
  const isProject = existsSync(join(dirname(dirname(root)), 'package.json'));
  const where = isProject ? '--save-dev' : '--global';
  return new SkillError('usage', message, { fix: `Run \`npm install ${where} ${PACKAGE}@${version}\`.` });
}
