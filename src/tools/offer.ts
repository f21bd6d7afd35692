/**
 * Selects the skills to offer as tools or to programs: the given ones, or all that can be called.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { FORMATS, TOOL_FORMATS, type ToolFormat } from './formats.ts';
import { toolName } from './names.ts';
import { assertTool, ToolSet, type SkippedSkill } from './tool-set.ts';
import { callableOf, typingsOf } from './typings/typings.ts';
import {
  TYPING_LANGUAGE_NAMES,
  TYPING_LANGUAGES,
  type TypingLanguage,
} from '../vocabulary/typing-languages.ts';

/** Where skills come from: a runtime. */
export interface SkillRegistry {
  /** Throws if the selection of offered skills is invalid. */
  assertOffer: () => void;
  offered: () => readonly { ref: string; dir: string }[];
  load: (ref: string) => Promise<Skill>;
}

/** Declarations of skills for a model that writes a program. */
export interface Typings {
  /** Source in the language, with the words of the authors as comments. */
  text: string;
  /** Skills that are left out, with reasons. */
  skipped: readonly SkippedSkill[];
}

export async function offerTools<Format extends ToolFormat>(
  format: Format,
  registry: SkillRegistry,
  selected?: readonly (string | Skill)[],
): Promise<ToolSet<Format>> {
  // Also checked at run time, for callers in plain JavaScript.
  if (!Object.hasOwn(FORMATS, format)) throw unknownFormat(format);
  const { skills, skipped } = selected
    ? { skills: await loadCallable(registry, selected), skipped: [] }
    : await findCallable(registry, (skill) => assertTool(skill, format));
  return new ToolSet(skills, format, skipped);
}

/**
 * Describes skills to a model that writes a program: the given ones, or all offered ones. The registry is a runtime.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'skillcell';
 * import { typingsFor } from 'skillcell/tools';
 *
 * await using runtime = createRuntime();
 * const { text } = await typingsFor('typescript', runtime, ['text/word_stats']);
 * console.log(text);
 * ```
 */
export async function typingsFor(
  language: TypingLanguage,
  registry: SkillRegistry,
  selected?: readonly (string | Skill)[],
): Promise<Typings> {
  // Also checked at run time, for callers in plain JavaScript.
  if (!Object.hasOwn(TYPING_LANGUAGES, language)) throw unknownFormat(language);
  const { skills, skipped } = selected
    ? { skills: await loadCallable(registry, selected), skipped: [] }
    : await findCallable(registry, () => undefined);
  return { text: typingsOf(language, skills.map(callableOf)), skipped };
}

async function loadCallable(
  registry: SkillRegistry,
  selected: readonly (string | Skill)[],
): Promise<Skill[]> {
  const skills = await Promise.all(
    selected.map(async (skill) => (typeof skill === 'string' ? registry.load(skill) : skill)),
  );
  skills.forEach(assertCallable);
  return skills;
}

/** Skips skills that are broken or cannot be called, so that they do not affect the others. */
async function findCallable(
  registry: SkillRegistry,
  assertPossible: (skill: Skill) => void,
): Promise<{ skills: Skill[]; skipped: SkippedSkill[] }> {
  registry.assertOffer();
  const skipped: SkippedSkill[] = [];
  const found = await mapConcurrently(registry.offered(), async ({ ref, dir }) => {
    try {
      const skill = await registry.load(dir);
      assertCallable(skill);
      assertPossible(skill);
      return { ref, skill };
    } catch (error) {
      if (!(error instanceof SkillError)) throw error;
      skipped.push({ ref, reason: error.message });
      return undefined;
    }
  });
  const byTool = Map.groupBy(
    found.filter((one) => one !== undefined),
    ({ skill }) => toolName(skill.bundle.manifest.name),
  );
  const offered: Skill[] = [];
  for (const [tool, claims] of byTool) {
    // The name would be ambiguous, and no skill may silently replace another.
    if (claims.length > 1)
      skipped.push(
        ...claims.map(({ ref }) => ({ ref, reason: `several skills map to the tool name ${tool}` })),
      );
    else offered.push(...claims.map(({ skill }) => skill));
  }
  return { skills: offered, skipped };
}

/** A tool that no call can use would only mislead a model. */
function assertCallable({ bundle }: Skill): void {
  const { kind, manifest } = bundle;
  if (kind !== 'instructions') return;
  throw new SkillError('usage', `The skill "${manifest.name}" cannot be a tool: it has instructions only`, {
    fix: 'Put its instructions into the prompt instead, or serve it with `skillcell mcp`.',
    detail: { kind },
  });
}

function unknownFormat(format: unknown): SkillError {
  return new SkillError('usage', `Unknown tool format "${String(format)}"`, {
    fix: `Use one of ${[...TOOL_FORMATS, ...TYPING_LANGUAGE_NAMES].join(', ')}.`,
  });
}
