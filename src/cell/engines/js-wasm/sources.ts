/**
 * Prepares the scripts of a bundle for cells: strips types and finds what the source refers to. A confined process does
 * this, so that the host never parses untrusted source. Results are cached by the digests of the files.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../../errors.ts';
import type { FileDigests } from '../../../load/bundle.ts';
import type { Finding } from '../../../load/inspection.ts';
import type { Wall } from '../../contract.ts';
import { makeFolder } from './make-folder.ts';

const SCRIPT = /\.(?:[cm]?js|[cm]?ts|json)$/;
const DECLARATION = /\.d\.[cm]?ts$/;
const ENTRY = /\.m?[jt]s$/;
const MIB = 1024 * 1024;
const MAX_FILES = 2000;
const MAX_SOURCE_BYTES = 16 * MIB;
const MAX_FINDINGS_BYTES = 8 * MIB;

const findings = z.array(z.object({ value: z.string().max(4000), at: z.string().max(2000) }));
const findingsSchema: z.ZodType<ScriptFindings> = z.object({
  imports: findings,
  env: findings,
  hosts: findings,
  fetches: findings,
  calls: findings,
  unparsed: findings,
});

export interface ScriptFindings {
  imports: Finding[];
  env: Finding[];
  hosts: Finding[];
  fetches: Finding[];
  calls: Finding[];
  unparsed: Finding[];
}

export interface SourcesOptions {
  home: string;
  wall: () => Promise<Wall>;
  stagedDir: string;
  files: FileDigests;
  /** Path of the skill's module inside the bundle. */
  entry: string;
}

export interface PreparedSources {
  /** Holds `modules.json`. */
  folder: string;
  findings: ScriptFindings;
}

/** Whether the engine can run this file as an entry. */
export function isScript(entry: string): boolean {
  return ENTRY.test(entry) && !DECLARATION.test(entry);
}

export async function prepareSources(options: SourcesOptions): Promise<PreparedSources> {
  const { home, wall, stagedDir, files, entry } = options;
  const names = Object.keys(files).filter((name) => SCRIPT.test(name) && !DECLARATION.test(name));
  const sources = names.toSorted();
  assertSize(stagedDir, sources);
  const digests = sources.map((name) => [name, files[name]]);
  const folder = await makeFolder({
    home,
    wall,
    key: createHash('sha256')
      .update(JSON.stringify([entry, digests]))
      .digest('hex')
      .slice(0, 32),
    what: 'The scripts of the skill',
    entry: 'js/install/prepare.js',
    input: { 'input.json': JSON.stringify({ entry, files: sources }) },
    output: 'made',
    reads: [{ host: stagedDir, guest: '/skill' }],
    limits: { timeout: 20_000, cpu: 15_000, memory: 768 * MIB },
  }).catch(unreadable);
  return { folder, findings: readFindings(join(folder, 'findings.json')) };
}

/** Blames the untrusted source, not the program that failed on it. */
function unreadable(error: unknown): never {
  if (!(error instanceof SkillError) || error.code !== 'internal') throw error;
  throw new SkillError('manifest_invalid', error.message, {
    fix: 'Split the source into smaller and simpler files. If it is already small, report this to the Skillcell maintainers.',
    detail: error.detail,
    cause: error,
  });
}

function assertSize(stagedDir: string, names: string[]): void {
  const bytes = names
    .slice(0, MAX_FILES)
    .reduce((sum, name) => sum + statSync(join(stagedDir, name)).size, 0);
  if (names.length <= MAX_FILES && bytes <= MAX_SOURCE_BYTES) return;
  throw new SkillError(
    'manifest_invalid',
    `The bundle has ${names.length} scripts and JSON files of ${bytes} bytes; at most ${MAX_FILES} files and ${MAX_SOURCE_BYTES} bytes are allowed`,
    {
      fix: 'Bundle the source into one file with `skillcell build`, and use other file extensions for data.',
    },
  );
}

function readFindings(file: string): ScriptFindings {
  if (statSync(file).size > MAX_FINDINGS_BYTES)
    throw new SkillError(
      'manifest_invalid',
      'The source refers to more modules, hosts and variables than allowed',
      {
        fix: 'Move data from the source into a file that the skill reads.',
      },
    );
  return findingsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}
