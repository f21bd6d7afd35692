/**
 * `skillcell init`: creates a new, working skill from a template. Templates are plain files with placeholders such as
 * `{{name}}`.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { isNameSegment } from '../manifest/names.ts';
import { shellWord } from '../manifest/quote.ts';
import { packageRoot } from '../package-root.ts';
import { TEMPLATE_LANGUAGES, type TemplateLanguage } from '../vocabulary/command-choices.ts';
import { planFromScript, writePlanned } from './init-from.ts';

/** Languages that `initSkill` has a template for. */
export const LANGUAGES: typeof TEMPLATE_LANGUAGES = TEMPLATE_LANGUAGES;
/** One of `LANGUAGES`. */
export type Language = TemplateLanguage;
/** Languages that need no build. */
const RUNS_AS_SOURCE: ReadonlySet<Language> = new Set(['python', 'typescript']);

/** Options of `initSkill`. */
export interface InitOptions {
  /** Not needed with `from`. */
  language?: string | undefined;
  /** An existing script to make the skill of, instead of a template. */
  from?: string | undefined;
  /** The folder of the skill; default `skills/<category>/<name>`. Its last two segments must be the name. */
  dir?: string;
  cwd?: string;
}

export interface Initialized {
  dir: string;
  /** The files that were written, relative to `dir`. */
  files: string[];
  /** Suggested next commands. */
  next: string[];
}

/** Creates a new skill from the template of a language. Never overwrites a file. */
export function initSkill(name: string, options: InitOptions): Initialized {
  if (options.from !== undefined) return initFromScript(name, { ...options, from: options.from });
  const language = LANGUAGES.find((known) => known === options.language);
  if (language === undefined) throw unknownLanguage(options.language);
  assertName(name);
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
  const build = RUNS_AS_SOURCE.has(language) ? [] : ['build'];
  return { dir, files, next: nextSteps(relative(cwd, dir) || '.', { text: 'Hello' }, build) };
}

function initFromScript(name: string, options: InitOptions & { from: string }): Initialized {
  assertName(name);
  const { language, from } = options;
  if (language !== undefined) throw bothSources();
  const cwd = resolve(options.cwd ?? process.cwd());
  const chosen = resolve(cwd, options.dir ?? join('skills', name));
  const planned = planFromScript(name, { from, cwd, dir: chosen, isChosen: options.dir !== undefined });
  const { dir, sample, isInPlace } = planned;
  if (!isInPlace && existsSync(dir) && readdirSync(dir).length > 0) throw notEmpty(dir);
  return { dir, files: writePlanned(planned), next: nextSteps(relative(cwd, dir) || '.', sample) };
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

/** Commands that work in this order. The lock comes last, because every later change has to be locked again. */
function nextSteps(dir: string, params: object, before: readonly string[] = []): string[] {
  const run = `skillcell run ${shellWord(dir)} --params '${JSON.stringify(params)}'`;
  const others = ['test', 'inspect', 'lock'].map((command) => `skillcell ${command} ${shellWord(dir)}`);
  return [...before.map((command) => `skillcell ${command} ${shellWord(dir)}`), run, ...others];
}

function assertName(name: string): void {
  const segments = name.split('/');
  if (segments.length === 2 && segments.every(isNameSegment)) return;
  throw new SkillError('usage', `${JSON.stringify(name)} is not a valid skill name`, {
    fix: 'Use a category and a name in lower case, such as "text/shout".',
  });
}

function bothSources(): SkillError {
  return new SkillError('usage', 'Pass either a language or a script, not both', {
    fix: 'Leave out --lang: the name of the script determines the language.',
  });
}

function unknownLanguage(language: string | undefined): SkillError {
  if (language === undefined)
    return new SkillError('usage', 'Pass a language or a script', {
      fix: `Pass --lang with one of ${LANGUAGES.join(', ')}, or --from with an existing script.`,
    });
  return new SkillError('usage', `There is no template for ${JSON.stringify(language)}`, {
    fix: `Choose one of: ${LANGUAGES.join(', ')}.`,
  });
}

function notEmpty(dir: string): SkillError {
  return new SkillError('usage', `The folder ${JSON.stringify(dir)} exists and is not empty`, {
    fix: 'Choose another name, or another folder with --dir.',
  });
}
