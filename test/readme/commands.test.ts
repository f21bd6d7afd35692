/**
 * Runs every `npx skillcell` line and every program in the documents as written; their output and exit codes must match the
 * documents.
 */
import { entryPoints } from '../../scripts/documents/api-tables.ts';
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  blocksOf,
  DOCUMENTS,
  examplesOf,
  markOf,
  outputOf,
  readDocument,
  ROOT,
  type Example,
} from './documents.ts';
import { normalise, shownPattern, type Place } from './output.ts';

const SECONDS_EACH = 600;
const TEST_MS = (SECONDS_EACH + 10) * 1000;
const SHOWN_HOME = '/home/me/.local/share/skillcell';
const SHOWN_ROOT = '/home/me/skillcell';
const SHOWN_PROJECT = '/home/me/project';

/** The environment for the examples of one document: a separate home, and a folder if they create files. */
class Scene {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-docs-')));
  readonly #cwd: string;
  readonly places: Place[];

  constructor(markdown: string) {
    const files = blocksOf(markdown).filter((block) => markOf(block, 'file') !== undefined);
    const project = join(this.#folder, 'project');
    this.#cwd = files.length > 0 ? project : ROOT;
    mkdirSync(project);
    // For programs that use other packages.
    symlinkSync(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'));
    for (const block of files) this.#write(join(project, markOf(block, 'file') ?? ''), block.text);
    this.places = [
      { here: join(this.#folder, 'home'), shown: SHOWN_HOME },
      { here: project, shown: SHOWN_PROJECT },
      { here: ROOT, shown: SHOWN_ROOT },
    ];
    // If the host is root, cells run as another user, who must be able to reach the project.
    spawnSync('chmod', ['-R', 'a+rX', this.#folder]);
  }

  shell(command: string): SpawnSyncReturns<string> {
    const line = command.replaceAll(
      'npx skillcell',
      `"${process.execPath}" "${join(ROOT, 'bin/skillcell.js')}"`,
    );
    return this.#run('/bin/sh', ['-c', line]);
  }

  /** A TypeScript program that imports the package by its name. */
  program(source: string): SpawnSyncReturns<string> {
    const file = join(this.#folder, 'program.ts');
    const imports = [...entryPoints()].reduce(
      (text, [name, module]) => text.replaceAll(`'${name}'`, `'${join(ROOT, module)}'`),
      source,
    );
    this.#write(file, imports);
    return this.#run(process.execPath, [file]);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #run(program: string, args: string[]): SpawnSyncReturns<string> {
    const env = { ...process.env, NO_COLOR: '1', SKILLCELL_HOME: join(this.#folder, 'home') };
    // `timeout` ends the whole process group; killing only the shell would leave its children.
    const bounded = [String(SECONDS_EACH), program, ...args];
    return spawnSync('/usr/bin/timeout', bounded, { cwd: this.#cwd, env, input: '', encoding: 'utf8' });
  }

  #write(file: string, text: string): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function expectOutput(ended: SpawnSyncReturns<string>, output: Example['output'], places: Place[]): void {
  if (output?.language === 'json')
    expect(normalise(JSON.stringify(JSON.parse(ended.stdout)), places)).toMatch(
      shownPattern(JSON.stringify(JSON.parse(output.text))),
    );
  if (output?.language === 'text') expect(normalise(ended.stdout, places)).toMatch(shownPattern(output.text));
}

describe.each(DOCUMENTS.map((file) => ({ file, markdown: readDocument(file) })))(
  'the document $file',
  ({ markdown }) => {
    const examples = examplesOf(markdown);
    const programs = blocksOf(markdown).filter(({ language }) => language === 'ts');
    let scene: Scene;
    beforeAll(() => {
      scene = new Scene(markdown);
    });
    afterAll(() => scene.close());

    test.each(examples)(
      'shows the output of line $line: $command',
      ({ command, exitCode, output }) => {
        // Text is compared as on a terminal, with both streams interleaved; JSON as in a pipe.
        const shown = output?.language === 'text' ? `{ ${command}\n} 2>&1` : command;
        const ended = scene.shell(shown);
        expect(ended, ended.stdout + ended.stderr).toMatchObject({ status: exitCode, signal: null });
        expectOutput(ended, output, scene.places);
      },
      TEST_MS,
    );

    test.each(programs)(
      'has a working program at line $line',
      (block) => {
        const ended = scene.program(block.text);
        expect(ended, ended.stdout + ended.stderr).toMatchObject({ status: 0, stderr: '' });
        expectOutput(ended, outputOf(block), scene.places);
      },
      TEST_MS,
    );

    test('has no command that the tests do not cover', () => {
      const fenced = blocksOf(markdown).filter(({ text }) => text.includes('npx skillcell'));
      expect(fenced.filter(({ language }) => language !== 'sh').map(({ line }) => line)).toEqual([]);
    });
  },
);

describe('comparing shown and actual output', () => {
  test('ignores ids, times, digests, figures and paths of this machine', () => {
    const printed = `01M7FF173K7CHAW94ZEHZXNFSD  2026-11-15T11:21:13.075Z  30.6  /tmp/x/home/a sha256:${'a'.repeat(64)}`;
    const shown = `01JD8Z5K3V9T4S7Q2M6N0P1R8W 2026-01-01T00:00:00.000Z 1.5 /home/me/a sha256:${'b'.repeat(64)}`;
    const places = [{ here: '/tmp/x/home', shown: '/home/me' }];
    expect(normalise(printed, places)).toMatch(shownPattern(shown));
  });

  const fits = (printed: string, shown: string): boolean => shownPattern(shown).test(normalise(printed));

  test.each([
    ['a\nb\nc', 'a\n...\nc'],
    ['a\nc', 'a\n...\nc'],
    ['a\nb\nc', 'a\n...'],
    ['a one b', 'a ... b'],
  ])('of %j fits %j', (printed, shown) => expect(fits(printed, shown)).toBe(true));

  test.each([
    ['a\nb\nc', 'a\nc'],
    ['a\nb', 'a'],
    ['axc', 'a.c'],
  ])('of %j does not fit %j', (printed, shown) => expect(fits(printed, shown)).toBe(false));
});
