/**
 * From an error or a warning of Skillcell to findings with a file and a line.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillError } from '../../src/inside.ts';
import type { Finding, RuleId } from './report.ts';

interface Place {
  /** Folder of the skill, relative to the repository. */
  dir: string;
  /** Name of its manifest. */
  manifest: string;
}

/** The file in a folder that describes the skill. */
export function manifestOf(folder: string): string {
  return existsSync(join(folder, 'manifest.yaml')) ? 'manifest.yaml' : 'SKILL.md';
}

/** Whether the files are not those of the lock, which is the author's to renew. */
export function isStaleLock({ code, detail }: SkillError): boolean {
  return code === 'manifest_drift' && 'changed' in detail;
}

export function findingsOfError(error: SkillError, place: Place): Finding[] {
  const specific = [...problems(error, place), ...drift(error, place), ...lockChanges(error, place)];
  if (specific.length > 0) return specific;
  const rule: RuleId = error.code === 'manifest_invalid' ? 'manifest-invalid' : 'not-loaded';
  const message = `${error.message} ${error.fix}`;
  return [{ rule, level: 'error', message, file: `${place.dir}/${place.manifest}` }];
}

/** Warnings about a missing lock are findings of their own. */
export function warningFindings({ warnings, files }: Skill['bundle'], dir: string): Finding[] {
  const manifest = Object.hasOwn(files, 'manifest.yaml') ? 'manifest.yaml' : 'SKILL.md';
  const others = warnings.filter((text) => !text.includes('no skill.lock'));
  return others.map((text) => located(text, { dir, manifest }, { rule: 'skill-warning', level: 'warning' }));
}

/** Problems of the manifest, each with its line. */
function problems({ code, detail }: SkillError, { dir, manifest }: Place): Finding[] {
  if (code !== 'manifest_invalid') return [];
  return listOf(detail['problems']).map((problem) => {
    const { path, line, message } = problem as { path?: string; line?: number; message?: string };
    const file = typeof detail['file'] === 'string' ? detail['file'] : manifest;
    return {
      rule: 'manifest-invalid',
      level: 'error',
      message: `${path}: ${message}`,
      file: `${dir}/${file}`,
      line,
    };
  });
}

function drift({ code, detail }: SkillError, place: Place): Finding[] {
  if (code !== 'manifest_drift') return [];
  return texts(detail['drift']).map((text) => located(text, place, { rule: 'code-drift', level: 'error' }));
}

function lockChanges(error: SkillError, { dir, manifest }: Place): Finding[] {
  if (!isStaleLock(error)) return [];
  const stale = (file: string, message: string): Finding => ({
    rule: 'lock-stale',
    level: 'error',
    message: `${message} Review the change, then run: skillcell lock ${dir}`,
    file: `${dir}/${file}`,
  });
  const { detail } = error;
  return [
    ...texts(detail['changed']).map((file) => stale(file, `${file} was changed after it was locked.`)),
    ...texts(detail['unlisted']).map((file) => stale(file, `${file} is not in skill.lock.`)),
    // A file that is gone has no place of its own.
    ...texts(detail['missing']).map((file) =>
      stale('skill.lock', `${file} is in skill.lock, but not in the skill.`),
    ),
    ...texts(detail['capabilities']).map((line) =>
      stale(manifest, `The capability set differs from skill.lock: ${line}.`),
    ),
  ];
}

/** Texts name a place as `(skill.py:12)`. */
function located(text: string, { dir, manifest }: Place, kind: Pick<Finding, 'rule' | 'level'>): Finding {
  const [, file, line] = /\(([^()\n]+):(\d+)\)/.exec(text) ?? [];
  const isInside = file !== undefined && !file.startsWith('/') && !file.split('/').includes('..');
  const place = isInside ? { file: `${dir}/${file}`, line: Number(line) } : { file: `${dir}/${manifest}` };
  return { ...kind, message: text, ...place };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}
