/**
 * Which skills are offered as tools: those that are named, or all that can be.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { FORMATS, TOOL_FORMATS, type ToolFormat } from './formats.ts';
import { toolName } from './names.ts';
import { assertTool, ToolSet, type SkippedSkill } from './tool-set.ts';

export interface Registry {
  /** Every skill there is. */
  list: () => readonly { ref: string; dir: string }[];
  load: (ref: string) => Promise<Skill>;
}

export async function offerTools<Format extends ToolFormat>(
  format: Format,
  registry: Registry,
  named?: readonly (string | Skill)[],
): Promise<ToolSet<Format>> {
  // Also for callers without types.
  if (!Object.hasOwn(FORMATS, format)) throw unknownFormat(format);
  if (!named) return offerAll(format, registry);
  const skills = named.map(async (skill) => (typeof skill === 'string' ? registry.load(skill) : skill));
  return new ToolSet(await Promise.all(skills), format);
}

/** A skill that is broken, or can be no tool, keeps none of the others away. */
async function offerAll<Format extends ToolFormat>(
  format: Format,
  { list, load }: Registry,
): Promise<ToolSet<Format>> {
  const skipped: SkippedSkill[] = [];
  const found = await Promise.all(
    list().map(async ({ ref, dir }) => {
      try {
        const skill = await load(dir);
        assertTool(skill, format);
        return { ref, skill };
      } catch (error) {
        if (!(error instanceof SkillError)) throw error;
        skipped.push({ ref, reason: error.message });
        return undefined;
      }
    }),
  );
  const byTool = Map.groupBy(
    found.filter((one) => one !== undefined),
    ({ skill }) => toolName(skill.bundle.manifest.name),
  );
  const offered: Skill[] = [];
  for (const [tool, claims] of byTool) {
    // Which of them a model means could not be told, and none may take the place of another.
    if (claims.length > 1)
      skipped.push(
        ...claims.map(({ ref }) => ({ ref, reason: `another skill would be the tool ${tool} too` })),
      );
    else offered.push(...claims.map(({ skill }) => skill));
  }
  return new ToolSet(offered, format, skipped);
}

function unknownFormat(format: unknown): SkillError {
  return new SkillError('usage', `There is no tool format "${String(format)}"`, {
    fix: `Use one of ${TOOL_FORMATS.join(', ')}.`,
  });
}
