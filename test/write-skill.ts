/**
 * Real skills in real folders, written by the test that runs them.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface SkillText {
  /** Its id, and its folder below `skills`; if absent, a unique one. */
  id?: string;
  /** Added to a manifest that asks for nothing; `undefined` removes a key. */
  manifest?: Record<string, unknown>;
  /** Body of `skill.py`, indented as in the test; if absent, the skill is in `files`. */
  source?: string | undefined;
  /** Other files by their path. */
  files?: Record<string, string>;
}

let written = 0;

/** A folder for one suite that every user can traverse, because the cells of a root host are not root. */
export function openFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-test-')));
  chmodSync(folder, 0o711);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Writes a bundle below `folder` and returns its path. */
export function writeSkill(folder: string, { id, manifest = {}, source, files = {} }: SkillText): string {
  const name = `skill_${++written}`;
  const dir = join(folder, 'skills', id ?? name);
  const whole = {
    name: id ?? `test/${name}`,
    version: '1.0.0',
    description: 'A skill of a test.',
    // The fastest mode comes first; tests of another mode ask for it.
    execution: ['subprocess', 'wasm'],
    capabilities: {},
    ...manifest,
  };
  const texts = {
    // JSON is YAML, and JSON.stringify omits undefined values.
    'manifest.yaml': JSON.stringify(whole, null, 2),
    ...(source === undefined ? {} : { 'skill.py': dedent(source) }),
    ...files,
  };
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

/** Removes the indentation that all lines share. */
export function dedent(text: string): string {
  const lines = text.replace(/^\n/, '').split('\n');
  const widths = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const shared = Math.min(...widths);
  return lines.map((line) => line.slice(shared)).join('\n');
}
