/**
 * Parts of a manifest in a file of their own: an author's `skillcell.yaml` beside a SKILL.md, or an operator's overlay.
 * Parsed with the schemas of a manifest; every unknown key is an error, because these files hold nothing but permissions.
 *
 * @module
 */
import { z } from 'zod';
import type { Permissions } from './add-to-manifest.ts';
import { ENV_KEYS, FRAGMENT_FIELDS, type FragmentFields } from './fields.ts';
import type { Limits } from './manifest.ts';
import { toCapabilities, toContainer, toEnv, toProblems, withoutUndefined } from './parse.ts';
import { type ManifestProblem, manifestInvalid, problemAt } from './problems.ts';
import { quote } from './quote.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** The author's file in an Agent Skills folder. */
export const AUTHORS_FILE = 'skillcell.yaml';

export interface Fragment extends Permissions {
  requirements: string[];
  declaresCapabilities: boolean;
}

/** Reads a file of fragments with further keys. Throws only `manifest_invalid`. */
export function parseFragment<Shape extends z.ZodRawShape>(
  text: string,
  { file, further }: { file: string; further: Shape },
): { fragment: Fragment; further: z.output<z.ZodObject<Shape>>; warnings: string[] } {
  const source = readYaml(text, { file, maxAliases: 0 });
  const schema = z.strictObject({ ...FRAGMENT_FIELDS, ...further });
  const parsed = schema.safeParse(withoutNulls(source.value));
  const problems = parsed.success
    ? unknownEnvKeys(parsed.data as FragmentFields, source)
    : toProblems(parsed.error.issues, source);
  if (!parsed.success || problems.length > 0) throw manifestInvalid(file, problems);
  const fields = parsed.data as FragmentFields;
  const fragment: Fragment = {
    capabilities: toCapabilities(fields.capabilities),
    declaresCapabilities: fields.capabilities !== undefined,
    env: toEnv(fields.env_vars),
    limits: withoutUndefined<Limits>(fields.limits),
    requirements: fields.requirements,
    ...(fields.container === undefined ? {} : { container: toContainer(fields.container) }),
  };
  return { fragment, further: parsed.data as z.output<z.ZodObject<Shape>>, warnings: source.warnings };
}

/** What an author asks for in `skillcell.yaml`. */
export function parseAuthorsFile(text: string): { fragment: Fragment; warnings: string[] } {
  const further = { skill: z.string().max(200).optional() };
  return parseFragment(text, { file: AUTHORS_FILE, further });
}

/** An empty key is null in YAML and counts as absent. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null));
}

function unknownEnvKeys({ env_vars: rules }: FragmentFields, source: YamlSource): ManifestProblem[] {
  return Object.entries(rules).flatMap(([name, rule]) =>
    Object.keys(rule)
      .filter((key) => !ENV_KEYS.has(key))
      .map((key) => {
        const path = ['env_vars', name, key];
        return problemAt(path, `Unknown key ${quote(key)}`, source.lineOf(path));
      }),
  );
}
