/**
 * Parses SKILL.md bundles (Agent Skills): name and description come from the frontmatter, the rest from a sibling
 * manifest.yaml. The category is always `skills`, so that the id does not depend on the location of the folder.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { checkFrontmatter, nameRule } from './frontmatter.ts';
import { repairFrontmatter } from './frontmatter-repair.ts';
import type { JsonSchema, Manifest, ParsedManifest } from './manifest.ts';
import { type ManifestContext, parseManifest } from './parse.ts';
import { describeProblem, manifestInvalid, problemAt } from './problems.ts';
import { NO_VERSION, VERSION } from './names.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

export const SKILL_MD_CATEGORY = 'skills';

/** Maximum number of words in a command. */
export const MAX_COMMAND_WORDS = 256;

/** The parameters of every skill of kind `script`: a call is a command, as a person would type it. */
export const SCRIPT_PARAMETERS: JsonSchema = {
  type: 'object',
  properties: {
    command: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: MAX_COMMAND_WORDS,
      description: 'The program or interpreter and its arguments, such as ["python", "scripts/x.py", "a"].',
    },
    stdin: { type: 'string', description: 'Text for the standard input of the command.' },
  },
  required: ['command'],
  additionalProperties: false,
};

export interface SkillMdParts {
  /** YAML between the `---` lines. */
  frontmatter: string;
  /** Markdown after the frontmatter: the skill's instructions. */
  body: string;
}

/** Splits a SKILL.md. Throws `manifest_invalid` if it does not start with frontmatter. */
export function splitSkillMd(text: string, file: string): SkillMdParts {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (lines[0]?.trimEnd() !== '---' || end === -1) {
    const message = 'Does not start with frontmatter; write "---", name and description, "---"';
    throw manifestInvalid(file, [problemAt([], nameRule('frontmatter', message), 1)]);
  }
  return { frontmatter: lines.slice(1, end).join('\n'), body: lines.slice(end + 1).join('\n') };
}

/** A bundle with only a SKILL.md declares no capabilities and gets none. */
export function parseSkillMd(text: string, context: Omit<ManifestContext, 'inherited'>): ParsedManifest {
  const source = readFrontmatter(splitSkillMd(text, context.file).frontmatter, context.file);
  const folder = context.folder?.split(/[/\\]/).findLast(Boolean);
  const { name, description, extra, warnings } = checkFrontmatter(source, { file: context.file, folder });
  return {
    manifest: bareManifest({ name, description, extra }),
    warnings: [...source.warnings, ...warnings],
  };
}

/** If it is not valid YAML, tries again with the repairs that agents make. */
function readFrontmatter(text: string, file: string): YamlSource {
  const options = { file, firstLine: 2 };
  try {
    return readYaml(text, options);
  } catch (error) {
    const repair = repairFrontmatter(text);
    if (!(error instanceof SkillError) || repair.keys.length === 0) throw error;
    const source = readRepaired(repair.text, options, error);
    const [first = ''] = repair.keys;
    const warning = `The frontmatter is not valid YAML; its values are read as text`;
    const place = problemAt([], nameRule('yaml', warning), source.lineOf([first]));
    return { ...source, warnings: [...source.warnings, describeProblem(place)] };
  }
}

/** The problems of the text as written help more than those of the repaired one. */
function readRepaired(
  text: string,
  options: { file: string; firstLine: number },
  problem: SkillError,
): YamlSource {
  try {
    return readYaml(text, options);
  } catch {
    throw problem;
  }
}

/** Agent Skills have no field of their own for it; by custom it is in their metadata. */
function versionIn(metadata: unknown): string | undefined {
  const { version } = (metadata ?? {}) as { version?: unknown };
  return typeof version === 'string' && VERSION.test(version) ? version : undefined;
}

function bareManifest(given: {
  name: string;
  description: string;
  extra: Record<string, unknown>;
}): Manifest {
  return {
    name: `${SKILL_MD_CATEGORY}/${given.name}`,
    version: versionIn(given.extra['metadata']) ?? NO_VERSION,
    description: given.description,
    parameters: { type: 'object' },
    outputs: {},
    requirements: [],
    execution: [],
    env: {},
    capabilities: { filesystem: [], network: [], syscalls: 'default' },
    declaresCapabilities: false,
    limits: {},
    extra: given.extra,
  };
}

export interface SkillMdBundle {
  skillMd: string;
  manifest: string;
}

/** Reads both files: manifest.yaml takes precedence, SKILL.md fills in what it leaves out. */
export function parseSkillMdWithManifest(texts: SkillMdBundle, context: ManifestContext): ParsedManifest {
  const base = parseSkillMd(texts.skillMd, { file: 'SKILL.md' });
  const merged = parseManifest(texts.manifest, { ...context, inherited: base.manifest });
  return {
    manifest: merged.manifest,
    warnings: [...base.warnings.map((text) => `SKILL.md: ${text}`), ...merged.warnings],
  };
}
