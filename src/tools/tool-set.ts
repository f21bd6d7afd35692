/**
 * Skills as tools of one provider: what to send to it, and what to do with what its model asks for.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { nearestNames } from '../load/nearest-names.ts';
import { FORMATS, type MadeTool, type ToolFormat, type ToolFormats } from './formats.ts';
import { toolName } from './names.ts';
import type { Restore } from './schema/restore.ts';

/** Something that a tool cannot say as its skill does. */
export interface ToolNote {
  skill: string;
  /** Place in the schema of the parameters, as a JSON pointer; empty for the whole. */
  path: string;
  what: string;
}

export interface SkippedSkill {
  ref: string;
  reason: string;
}

/** What a model asks for, as a call. */
export interface ToolCall {
  skill: Skill;
  params: unknown;
}

interface Entry {
  skill: Skill;
  restore: Restore | undefined;
}

/**
 * @example
 * ```ts
 * import { createRuntime } from 'skillcell';
 *
 * await using runtime = createRuntime();
 * const offered = await runtime.tools('claude', ['text/word_stats']);
 * const request = { tools: offered.tools };
 * const { skill, params } = offered.call('text__word_stats', { text: 'To be' });
 * await runtime.executeIsolated(skill, params);
 * ```
 */
export class ToolSet<Format extends ToolFormat = ToolFormat> {
  readonly format: Format;
  /** Plain data, to be sent as it is. */
  readonly tools: readonly ToolFormats[Format][];
  /** What the provider is not told as the skills say it. The skills check their parameters all the same. */
  readonly notes: readonly ToolNote[];
  /** Skills that are not offered, and why. */
  readonly skipped: readonly SkippedSkill[];
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(skills: readonly Skill[], format: Format, skipped: readonly SkippedSkill[] = []) {
    const notes: ToolNote[] = [];
    const made = skills.map((skill) => makeTool(skill, format, notes));
    this.format = format;
    this.tools = made.map(({ tool }) => tool);
    this.notes = notes;
    this.skipped = skipped;
    this.#entries = entriesOf(skills, made);
  }

  /** The skill behind a tool, and its parameters from the arguments of the model: an object, or JSON text. */
  call(tool: string, args: unknown): ToolCall {
    const entry = this.#entries.get(tool);
    if (!entry) throw unknownTool(tool, [...this.#entries.keys()]);
    const given = typeof args === 'string' ? parsed(args) : (args ?? {});
    return { skill: entry.skill, params: entry.restore ? entry.restore(given) : given };
  }

  /**
   * What the skills tell the model about themselves, for the system text. It was written by the authors of the skills,
   * not by you, and each part says so.
   */
  get instructions(): string {
    const parts = [...this.#entries].flatMap(([tool, { skill }]) => {
      const { instructions = '', manifest } = skill.bundle;
      return instructions.trim() === ''
        ? []
        : [`## Tool ${tool}\n\nThe author of the skill ${manifest.name} writes:\n\n${instructions.trim()}`];
    });
    return parts.join('\n\n');
  }
}

/** Throws where this skill can be no tool. */
export function assertTool(skill: Skill, format: ToolFormat): void {
  makeTool(skill, format, []);
}

function makeTool<Format extends ToolFormat>(
  { bundle }: Skill,
  format: Format,
  notes: ToolNote[],
): MadeTool<ToolFormats[Format]> {
  const { manifest } = bundle;
  const made = FORMATS[format](manifest, (path, what) => notes.push({ skill: manifest.name, path, what }));
  if (made) return made;
  throw new SkillError('usage', `"${manifest.name}" cannot be a tool: its parameters are no object`, {
    fix: 'Give its manifest parameters of type object.',
  });
}

function entriesOf(skills: readonly Skill[], made: readonly MadeTool[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  skills.forEach((skill, at) => {
    const tool = toolName(skill.bundle.manifest.name);
    // Which of the two a model meant could not be told.
    if (entries.has(tool)) throw twice(tool);
    entries.set(tool, { skill, restore: made[at]?.restore });
  });
  return entries;
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillError('invalid_params', `The model wrote arguments that are no JSON: ${reason}`, {
      fix: 'Give the model this error as the result of its call, so that it can try again.',
    });
  }
}

function twice(tool: string): SkillError {
  return new SkillError('usage', `Two skills would be the tool "${tool}"`, {
    fix: 'Offer one of them.',
    detail: { tool },
  });
}

function unknownTool(tool: string, known: readonly string[]): SkillError {
  const [nearest] = nearestNames(tool, known);
  return new SkillError('skill_unavailable', `There is no tool "${tool}" in this set`, {
    fix:
      nearest === undefined
        ? 'Ask for one of the tools that were offered.'
        : `Did the model mean "${nearest}"?`,
    detail: { tool },
  });
}
