/**
 * Skills as tools of one provider: the definitions to send, and the conversion of tool calls back to skill calls.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { nearestNames } from '../load/nearest-names.ts';
import { FORMATS, type ConvertedTool, type ToolFormat, type ToolFormats } from './formats.ts';
import { toolName } from './names.ts';
import type { Restore } from './schema/restore.ts';

/** A part of the schema that the tool cannot express exactly. */
export interface ToolNote {
  skill: string;
  /** JSON pointer into the schema of the parameters; empty for the root. */
  path: string;
  what: string;
}

/** A skill that is not offered as a tool, with the reason. */
export interface SkippedSkill {
  ref: string;
  reason: string;
}

/** The call that a model requested. */
export interface ToolCall {
  skill: Skill;
  params: unknown;
}

interface Entry {
  skill: Skill;
  restore: Restore | undefined;
}

/**
 * Skills as the tools of one model provider, and the way back from a tool call to a skill.
 *
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
  /** Plain data, ready to send. */
  readonly tools: readonly ToolFormats[Format][];
  /** Parts of the schemas that the provider's format cannot express. The skills still check their parameters. */
  readonly notes: readonly ToolNote[];
  /** Skills that are not offered, with reasons. */
  readonly skipped: readonly SkippedSkill[];
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(skills: readonly Skill[], format: Format, skipped: readonly SkippedSkill[] = []) {
    const notes: ToolNote[] = [];
    const converted = skills.map((skill) => convertTool(skill, format, notes));
    this.format = format;
    this.tools = converted.map(({ tool }) => tool);
    this.notes = notes;
    this.skipped = skipped;
    this.#entries = entriesOf(skills, converted);
  }

  /** Converts a tool call to a skill and its parameters. `args` is an object or JSON text. */
  call(tool: string, args: unknown): ToolCall {
    const entry = this.#entries.get(tool);
    if (!entry) throw unknownTool(tool, [...this.#entries.keys()]);
    const value = typeof args === 'string' ? parseArguments(args) : (args ?? {});
    return { skill: entry.skill, params: entry.restore ? entry.restore(value) : value };
  }

  /**
   * Instructions of the skills for the model, for the system prompt. They are written by the authors of the skills, not by
   * you, and each part says so.
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

/** Throws if this skill cannot be a tool. */
export function assertTool(skill: Skill, format: ToolFormat): void {
  convertTool(skill, format, []);
}

function convertTool<Format extends ToolFormat>(
  { bundle }: Skill,
  format: Format,
  notes: ToolNote[],
): ConvertedTool<ToolFormats[Format]> {
  const { manifest } = bundle;
  const converted = FORMATS[format](manifest, (path, what) =>
    notes.push({ skill: manifest.name, path, what }),
  );
  if (converted) return converted;
  throw new SkillError(
    'usage',
    `The skill "${manifest.name}" cannot be a tool: its parameters are not an object`,
    {
      fix: 'Set "type: object" in the parameters of its manifest.',
    },
  );
}

function entriesOf(skills: readonly Skill[], converted: readonly ConvertedTool[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  skills.forEach((skill, at) => {
    const tool = toolName(skill.bundle.manifest.name);
    // The name would be ambiguous.
    if (entries.has(tool)) throw duplicateTool(tool);
    entries.set(tool, { skill, restore: converted[at]?.restore });
  });
  return entries;
}

function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillError('invalid_params', `The arguments of the model are not valid JSON: ${reason}`, {
      fix: 'Return this error to the model as the result of its call, so that it can try again.',
    });
  }
}

function duplicateTool(tool: string): SkillError {
  return new SkillError('usage', `Two skills map to the tool name "${tool}"`, {
    fix: 'Offer only one of them.',
    detail: { tool },
  });
}

function unknownTool(tool: string, known: readonly string[]): SkillError {
  const [nearest] = nearestNames(tool, known);
  return new SkillError('skill_unavailable', `Unknown tool "${tool}"`, {
    fix: nearest === undefined ? 'Use one of the offered tools.' : `Did the model mean "${nearest}"?`,
    detail: { tool },
  });
}
