/**
 * Checks the frontmatter of a SKILL.md against the Agent Skills specification. A folder that breaks a rule loads wherever
 * its name and description are still certain, with a warning that names the rule.
 *
 * @module
 */
import { SKILL_MD_LIMITS, type SkillMdRule } from '../vocabulary/skill-md-rules.ts';
import { isNameSegment } from './names.ts';
import { describeProblem, manifestInvalid, problemAt } from './problems.ts';
import { quote } from './quote.ts';
import type { YamlSource } from './yaml-source.ts';

export interface Frontmatter {
  name: string;
  description: string;
  /** Everything else, as written. */
  extra: Record<string, unknown>;
  warnings: string[];
}

interface Place {
  file: string;
  /** Name of the folder that holds the SKILL.md, if known. */
  folder?: string | undefined;
}

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

/** More than a person reads; a hostile file must not cause an endless report. */
const MAX_WARNINGS = 50;

/** A sentence about a broken rule ends with the rule's name, so that tools and people can look it up. */
export function nameRule(rule: SkillMdRule, message: string): string {
  return `${message} [rule ${rule}]`;
}

/** Throws `manifest_invalid` if there is no usable name or description. */
export function checkFrontmatter(source: YamlSource, place: Place): Frontmatter {
  return new Checker(source, place).check();
}

class Checker {
  readonly #source: YamlSource;
  readonly #place: Place;
  readonly #warnings: string[] = [];

  constructor(source: YamlSource, place: Place) {
    this.#source = source;
    this.#place = place;
  }

  check(): Frontmatter {
    const { value } = this.#source;
    if (!isMapping(value))
      throw this.#refusal([], 'yaml', 'The frontmatter is not a mapping of keys to values');
    const { name: _name, description: _description, ...extra } = value;
    const name = this.#name();
    const description = this.#description();
    this.#optionalFields(extra);
    return { name, description, extra, warnings: this.#warnings.slice(0, MAX_WARNINGS) };
  }

  #name(): string {
    const { folder } = this.#place;
    const given = this.#text('name');
    const problems = nameProblems(given);
    if (given !== undefined && isNameSegment(given)) {
      for (const [rule, message] of problems) this.#warn(['name'], rule, message);
      if (folder !== undefined && folder !== given)
        this.#warn(['name'], 'name-folder', `${quote(given)} differs from its folder ${quote(folder)}`);
      return given;
    }
    const [[rule, message] = ['name-characters', 'Not a valid name'] as const] = problems;
    if (folder === undefined || !isNameSegment(folder)) throw this.#refusal(['name'], rule, message);
    this.#warn(['name'], rule, `${message}; using the name of its folder, ${quote(folder)}`);
    return folder;
  }

  #description(): string {
    const text = this.#text('description') ?? '';
    if (text.trim() === '')
      throw this.#refusal(['description'], 'description-present', 'A description is missing or not text');
    const max = SKILL_MD_LIMITS.description;
    if (isLonger(text.trim(), max))
      this.#warn(['description'], 'description-length', `Longer than ${max} characters`);
    return text;
  }

  #optionalFields(extra: Record<string, unknown>): void {
    for (const key of Object.keys(extra)) {
      if (!KNOWN_KEYS.has(key)) this.#warn([key], 'known-keys', 'Unknown key; it has no effect');
    }
    if ('license' in extra && this.#text('license') === undefined)
      this.#warn(['license'], 'license-text', 'Not text');
    this.#compatibility(extra);
    this.#metadata(extra['metadata']);
    this.#allowedTools(extra);
  }

  #compatibility(extra: Record<string, unknown>): void {
    if (!('compatibility' in extra)) return;
    const text = this.#text('compatibility') ?? '';
    const max = SKILL_MD_LIMITS.compatibility;
    if (text === '' || isLonger(text, max))
      this.#warn(['compatibility'], 'compatibility-length', `Not a text of 1 to ${max} characters`);
  }

  /** Numbers and truth values count as text, because the specification's own reader takes them so. */
  #metadata(metadata: unknown): void {
    if (metadata === undefined) return;
    if (!isMapping(metadata)) {
      this.#warn(['metadata'], 'metadata-text', 'Not a mapping');
      return;
    }
    for (const [key, value] of Object.entries(metadata)) {
      if (typeof value === 'object') this.#warn(['metadata', key], 'metadata-text', 'Not text');
    }
  }

  #allowedTools(extra: Record<string, unknown>): void {
    if (!('allowed-tools' in extra)) return;
    const message = 'Only a hint for the agent; grants nothing. Declare "capabilities" in a manifest.yaml';
    this.#warnings.push(describeProblem(this.#problem(['allowed-tools'], message)));
    if (typeof extra['allowed-tools'] !== 'string')
      this.#warn(['allowed-tools'], 'allowed-tools-text', 'Not one text with spaces between the tools');
  }

  /** A text, or a plain scalar such as `2024` as it is written. */
  #text(key: string): string | undefined {
    const value = (this.#source.value as Record<string, unknown>)[key];
    if (typeof value === 'string') return value;
    if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
    return this.#source.textOf([key]);
  }

  #warn(path: readonly string[], rule: SkillMdRule, message: string): void {
    this.#warnings.push(describeProblem(this.#problem(path, nameRule(rule, message))));
  }

  #problem(path: readonly string[], message: string): ReturnType<typeof problemAt> {
    return problemAt(path, message, this.#source.lineOf(path));
  }

  #refusal(path: readonly string[], rule: SkillMdRule, message: string): Error {
    return manifestInvalid(this.#place.file, [this.#problem(path, nameRule(rule, message))]);
  }
}

function nameProblems(name: string | undefined): (readonly [SkillMdRule, string])[] {
  if (name === undefined || name.trim() === '') return [['name-present', 'A name is missing']];
  const problems: (readonly [SkillMdRule, string])[] = [];
  const max = SKILL_MD_LIMITS.name;
  if (isLonger(name, max)) problems.push(['name-length', `${quote(name)} is longer than ${max} characters`]);
  if (/[^a-z0-9-]/.test(name))
    problems.push(['name-characters', `${quote(name)} has characters other than a-z, 0-9 and "-"`]);
  if (/^-|-$|--/.test(name))
    problems.push(['name-hyphens', `${quote(name)} starts or ends with "-", or repeats it`]);
  return problems;
}

/** Counts characters, not UTF-16 units, as the specification does. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && Array.from(text).length > max;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
