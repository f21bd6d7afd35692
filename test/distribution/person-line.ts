/**
 * People at their machines for tests: each has a home and projects of their own, and types `skillcell`.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSkillsLock, type SkillPin } from '../../src/load/skills-lock.ts';
import { expect } from 'vitest';

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));
export const RUST_SKILL: string = join(ROOT, 'skills/text/word_stats_rust');
export const RUST_ID = 'text/word_stats_rust';
/** The same skill under a name that no bundled skill has. */
export const OWN_ID = 'text/own_stats';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export class PersonLine {
  readonly home: string;
  readonly project: string;
  readonly folder: string;

  /** `folder` is theirs alone; the project is empty. */
  constructor(folder: string) {
    this.folder = folder;
    this.home = join(folder, 'home');
    this.project = join(folder, 'project');
    mkdirSync(this.project, { recursive: true });
  }

  /** `piped` is its standard input. */
  run(args: readonly string[], env: Record<string, string> = {}, piped?: string): Promise<Ended> {
    const typed = piped === undefined ? {} : { typed: piped };
    return this.#start([process.execPath, join(ROOT, 'bin/skillcell.js'), ...args], { env, ...typed });
  }

  /** Types the answers at a terminal. What the terminal shows is in `stdout`. */
  atTerminal(typed: string, ...args: string[]): Promise<Ended> {
    const words = [process.execPath, join(ROOT, 'bin/skillcell.js'), ...args].map((word) => `'${word}'`);
    return this.#start(['script', '-qec', words.join(' '), '/dev/null'], { typed });
  }

  async ok(...args: string[]): Promise<string> {
    const ended = await this.run(args);
    expect({ args, ...ended }).toMatchObject({ code: 0 });
    return ended.stdout;
  }

  /** The message of the refusal, whose code has to be this one. */
  async refused(code: string, ...args: string[]): Promise<string> {
    const before = this.lockText();
    const { code: exit, stderr } = await this.run(args);
    expect({ args, exit, stderr }).toMatchObject({
      stderr: expect.stringContaining(`error[${code}]`) as string,
    });
    expect(exit).toBeGreaterThan(0);
    expect(this.lockText()).toBe(before);
    return stderr.slice(stderr.indexOf(`error[${code}]: `) + `error[${code}]: `.length);
  }

  lockText(): string {
    const file = join(this.project, 'skills.lock.json');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  pin(id: string = OWN_ID): SkillPin {
    const pin = parseSkillsLock(this.lockText()).get(id);
    if (!pin) throw new Error(`"${id}" is not pinned`);
    return pin;
  }

  write(path: string, text: string): string {
    const file = join(this.folder, path);
    writeFileSync(file, text);
    return file;
  }

  /** A folder with the Rust skill as this version and under its own name, which nobody locked yet. */
  writeSkill(version: string, notes = ''): string {
    const folder = join(this.folder, 'author', 'own_stats');
    rmSync(folder, { recursive: true, force: true });
    cpSync(RUST_SKILL, folder, { recursive: true });
    for (const file of ['skill.lock', 'skill.sig']) rmSync(join(folder, file), { force: true });
    const manifest = join(folder, 'manifest.yaml');
    const text = readFileSync(manifest, 'utf8')
      .replace(/^version: .*$/m, `version: ${version}`)
      .replace(RUST_ID, OWN_ID);
    writeFileSync(manifest, text);
    if (notes !== '') writeFileSync(join(folder, 'NOTES.md'), notes);
    return folder;
  }

  async #start(
    [program = '', ...args]: string[],
    { typed, env = {} }: { typed?: string; env?: Record<string, string> },
  ): Promise<Ended> {
    const child = spawn(program, args, {
      cwd: this.project,
      env: { ...process.env, SKILLCELL_HOME: this.home, NO_COLOR: '1', ...env },
      stdio: [typed === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    const ended: Ended = { code: -1, stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
    child.stdin?.on('error', () => undefined).end(typed);
    [ended.code] = (await once(child, 'close')) as [number];
    return ended;
  }
}
