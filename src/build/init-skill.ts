/**
 * `skillcell init`: a new skill from a template, working from the first minute. Templates are plain files with
 * `{{name}}` and the like in them.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { isNameSegment } from '../manifest/names.ts';
import { packageRoot } from '../package-root.ts';

export const LANGUAGES = ['rust', 'go', 'c', 'typescript', 'python'] as const;
export type Language = (typeof LANGUAGES)[number];
/** Without a build. */
const RUNS_AS_SOURCE: ReadonlySet<Language> = new Set(['python', 'typescript']);

export interface InitOptions {
  language: string;
  /** Where the skill goes; `skills/<category>/<name>` when absent. Its last two parts have to be the name. */
  dir?: string;
  cwd?: string;
}

export interface Initialized {
  dir: string;
  /** What was written, by path inside the skill. */
  files: string[];
  /** Commands to go on with. */
  next: string[];
}

/** Writes the template of a language as a new skill. Nothing that exists is overwritten. */
export function initSkill(name: string, options: InitOptions): Initialized {
  const language = LANGUAGES.find((known) => known === options.language);
  if (language === undefined) throw unknownLanguage(options.language);
  refuseBadName(name);
  const cwd = resolve(options.cwd ?? process.cwd());
  const dir = resolve(cwd, options.dir ?? join('skills', name));
  if (existsSync(dir) && readdirSync(dir).length > 0) throw notEmpty(dir);
  const template = join(packageRoot(), 'templates', language);
  const files = filesIn(template);
  for (const file of files) {
    const target = join(dir, file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, fill(readFileSync(join(template, file), 'utf8'), name));
  }
  return { dir, files, next: nextSteps(language, relative(cwd, dir) || '.') };
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).toSorted();
}

function fill(text: string, name: string): string {
  const [category = '', short = ''] = name.split('/');
  return text
    .replaceAll('{{name}}', name)
    .replaceAll('{{category}}', category)
    .replaceAll('{{short_name}}', short);
}

function nextSteps(language: Language, dir: string): string[] {
  const build = RUNS_AS_SOURCE.has(language) ? [] : [`skillcell build ${dir}`];
  return [...build, `skillcell run ${dir} --params '{"text": "Hello"}'`, `skillcell inspect ${dir}`];
}

function refuseBadName(name: string): void {
  const segments = name.split('/');
  if (segments.length === 2 && segments.every(isNameSegment)) return;
  throw new SkillError('usage', `${JSON.stringify(name)} is no name of a skill`, {
    fix: 'Give a category and a name in lower case, such as "text/shout".',
  });
}

function unknownLanguage(language: string): SkillError {
  return new SkillError('usage', `There is no template for ${JSON.stringify(language)}`, {
    fix: `Choose one of: ${LANGUAGES.join(', ')}.`,
  });
}

function notEmpty(dir: string): SkillError {
  return new SkillError('usage', `The folder ${JSON.stringify(dir)} exists and is not empty`, {
    fix: 'Choose another name, or another folder with --dir.',
  });
}
