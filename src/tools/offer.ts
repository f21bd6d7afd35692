/**
 * Selects the skills to offer as tools: the given ones, or all that can be tools.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Skill } from '../load/skill.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { FORMATS, TOOL_FORMATS, type ToolFormat } from './formats.ts';
import { toolName } from './names.ts';
import { assertTool, ToolSet, type SkippedSkill } from './tool-set.ts';

export interface Registry {
  /** All known skills. */
  list: () => readonly { ref: string; dir: string }[];
  load: (ref: string) => Promise<Skill>;
}

export async function offerTools<Format extends ToolFormat>(
  format: Format,
  registry: Registry,
  selected?: readonly (string | Skill)[],
): Promise<ToolSet<Format>> {
  // Also checked at run time, for callers in plain JavaScript.
  if (!Object.hasOwn(FORMATS, format)) throw unknownFormat(format);
  if (!selected) return offerAll(format, registry);
  const skills = await Promise.all(
    selected.map(async (skill) => (typeof skill === 'string' ? registry.load(skill) : skill)),
  );
  skills.forEach(assertCallable);
  return new ToolSet(skills, format);
}

/** Skips skills that are broken or cannot be tools, so that they do not affect the others. */
async function offerAll<Format extends ToolFormat>(
  format: Format,
  { list, load }: Registry,
): Promise<ToolSet<Format>> {
  const skipped: SkippedSkill[] = [];
  const found = await mapConcurrently(list(), async ({ ref, dir }) => {
    try {
      const skill = await load(dir);
      assertCallable(skill);
      assertTool(skill, format);
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
  return new ToolSet(offered, format, skipped);
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
    fix: `Use one of ${TOOL_FORMATS.join(', ')}.`,
  });
}
