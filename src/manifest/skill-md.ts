/**
 * Parses SKILL.md bundles (Agent Skills): name and description come from the frontmatter, the rest from a sibling
 * manifest.yaml. The category is always `skills`, so that the id does not depend on the location of the folder.
 *
 * @module
 */
import { z } from 'zod';
import type { JsonSchema, Manifest, ParsedManifest } from './manifest.ts';
import { isNameSegment } from './names.ts';
import { type ManifestContext, parseManifest } from './parse.ts';
import { describeProblem, manifestInvalid, problemAt } from './problems.ts';
import { quote } from './quote.ts';
import { readYaml } from './yaml-source.ts';

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

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);

const frontmatterFields = z.looseObject({
  name: z.string().refine(isNameSegment, { error: 'Expected a name of a-z, 0-9, "_" and "-"' }),
  description: z.string().min(1),
});

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
    throw manifestInvalid(file, [problemAt([], message, 1)]);
  }
  return { frontmatter: lines.slice(1, end).join('\n'), body: lines.slice(end + 1).join('\n') };
}

/** A bundle with only a SKILL.md declares no capabilities and gets none. */
export function parseSkillMd(text: string, context: Omit<ManifestContext, 'inherited'>): ParsedManifest {
  const source = readYaml(splitSkillMd(text, context.file).frontmatter, { file: context.file, firstLine: 2 });
  const parsed = frontmatterFields.safeParse(source.value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) =>
      problemAt(path, message, source.lineOf(path)),
    );
    throw manifestInvalid(context.file, problems);
  }
  const { name, description, ...extra } = parsed.data;
  const place = (key: string): { path: string; line?: number } => problemAt([key], '', source.lineOf([key]));
  const warnings = [...source.warnings, ...Object.keys(extra).flatMap((key) => keyWarning(key, place(key)))];
  const folder = context.folder?.split(/[/\\]/).findLast(Boolean);
  if (folder !== undefined && folder !== name) {
    warnings.push(`name: ${quote(name)} differs from its folder ${quote(folder)}`);
  }
  return { manifest: bareManifest({ name, description, extra }), warnings };
}

function keyWarning(key: string, place: { path: string; line?: number }): string[] {
  if (key === 'allowed-tools') {
    const message = 'Only a hint for the agent; grants nothing. Declare "capabilities" in a manifest.yaml';
    return [describeProblem({ ...place, message })];
  }
  if (KNOWN_KEYS.has(key)) return [];
  return [describeProblem({ ...place, message: 'Unknown key; it has no effect' })];
}

function bareManifest(given: {
  name: string;
  description: string;
  extra: Record<string, unknown>;
}): Manifest {
  return {
    name: `${SKILL_MD_CATEGORY}/${given.name}`,
    version: '0.0.0',
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
