/**
 * What the bench of distribution needs: a real registry on loopback with a small and a large skill, and a project with
 * fifty pinned skills that are here.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRuntime, packageRoot } from '../../src/inside.ts';
import { startRegistry } from '../../test/distribution/registries.ts';

export const LARGE_FILES = 2000;
export const PINNED = 50;

const RUST_SKILL = join(packageRoot(), 'skills/text/word_stats_rust');

export interface Stage extends AsyncDisposable {
  /** `oci://127.0.0.1:PORT` */
  registry: string;
  /** References of the two skills. */
  small: string;
  large: string;
  /** A home and a project whose skills are all in the store. */
  pinned: { home: string; project: string };
}

/** `folder` must be one that cells of any user can traverse. */
export async function setStage(folder: string): Promise<Stage> {
  const running = await startRegistry('docker-registry', join(folder, 'registry'));
  try {
    const registry = `oci://${running.host}`;
    const author = { home: join(folder, 'author'), project: folder };
    const [small, large] = [`${registry}/bench/small`, `${registry}/bench/large`];
    command(author, 'publish', RUST_SKILL, small);
    command(author, 'publish', writeLarge(join(folder, 'many-files')), large);
    const pinned = { home: join(folder, 'pinned-home'), project: join(folder, 'pinned') };
    mkdirSync(pinned.project);
    const skills = await writeMany(join(folder, 'skills'), author.home);
    command(pinned, 'add', ...skills.map((dir) => `file:${dir}`), '--yes', '--policy', allowAll(folder));
    return { registry, small, large, pinned, [Symbol.asyncDispose]: () => running.stop() };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

function command({ home, project }: Stage['pinned'], ...args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [join(packageRoot(), 'bin/skillcell.js'), ...args], {
    cwd: project,
    env: { ...process.env, SKILLCELL_HOME: home },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`skillcell ${args[0]} failed: ${stderr}`);
}

function allowAll(folder: string): string {
  const file = join(folder, 'policy.yaml');
  writeFileSync(file, JSON.stringify({ sources: [{ match: '*' }] }));
  return file;
}

/** Copies of the small skill under names of their own, each with its lock. */
async function writeMany(folder: string, home: string): Promise<string[]> {
  await using runtime = createRuntime({ home, cwd: folder, pool: { size: 0 }, audit: false });
  const folders: string[] = [];
  for (let at = 0; at < PINNED; at++) {
    const dir = join(folder, `stats_${at}`);
    cpSync(RUST_SKILL, dir, { recursive: true });
    rmSync(join(dir, 'skill.lock'));
    const manifest = join(dir, 'manifest.yaml');
    const text = readFileSync(manifest, 'utf8').replace('text/word_stats_rust', `bench/stats_${at}`);
    writeFileSync(manifest, text);
    await runtime.writeLock(dir);
    folders.push(dir);
  }
  return folders;
}

/** An Agent Skills folder with short texts. */
function writeLarge(dir: string): string {
  const texts = new Map([
    ['SKILL.md', '---\nname: many-files\ndescription: Has many files.\n---\nRead them.\n'],
  ]);
  for (let at = 1; at < LARGE_FILES; at++) {
    const lines = Array.from(
      { length: 20 },
      (_, line) => `Line ${line} of note ${at}: ${(at * 7919) % 10_007}.`,
    );
    texts.set(`references/${at % 40}/${at}.md`, `${lines.join('\n')}\n`);
  }
  for (const [path, text] of texts) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}
