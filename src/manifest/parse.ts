/**
 * Parses `manifest.yaml`: returns plain data that later stages can trust, or reports every problem with its line.
 *
 * @module
 */
import type { z } from 'zod';
import {
  CARRIED_KEYS,
  type ContainerFields,
  ENV_KEYS,
  type ManifestFields,
  manifestFields,
  READ_KEYS,
} from './fields.ts';
import type {
  Capabilities,
  ContainerRule,
  EnvRule,
  FilesystemRule,
  Limits,
  Manifest,
  NetworkRule,
  ParsedManifest,
} from './manifest.ts';
import { isNameSegment } from './names.ts';
import { type ManifestProblem, manifestInvalid, problemAt } from './problems.ts';
import { formatPath, quote, shortLine } from './quote.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

export interface ManifestContext {
  /** File name for messages. */
  file: string;
  /** The bundle's folder; its last two segments should be the skill's name. */
  folder?: string;
  /** Values from a sibling SKILL.md; the manifest overrides them. */
  inherited?: Pick<Manifest, 'name' | 'version' | 'description' | 'extra'>;
}

/** Reads a manifest. Throws only `manifest_invalid`, with all problems in `detail.problems`. */
export function parseManifest(text: string, context: ManifestContext): ParsedManifest {
  const source = readYaml(text, { file: context.file });
  if (!isMapping(source.value)) {
    throw manifestInvalid(context.file, [problemAt([], 'A manifest must be a mapping of keys to values', 1)]);
  }
  const warnings = [...source.warnings];
  const raw = prepare(source.value, { source, context, warnings });
  const parsed = manifestFields.safeParse(raw);
  if (!parsed.success) throw manifestInvalid(context.file, toProblems(parsed.error.issues, source));
  const manifest = assemble(parsed.data, { ...context.inherited?.extra, ...raw });
  warnings.push(...contentWarnings(parsed.data, source), ...folderWarnings(manifest.name, context.folder));
  return { manifest, warnings };
}

interface Preparation {
  source: YamlSource;
  context: ManifestContext;
  warnings: string[];
}

/** Normalizes what older manifests and SKILL.md leave out or write differently. */
function prepare(value: Record<string, unknown>, preparation: Preparation): Record<string, unknown> {
  const { source, warnings } = preparation;
  // An empty key (`requirements:`) is null in YAML and counts as absent, except for `capabilities`.
  const present = Object.entries(value).filter(([key, entry]) => entry !== null || key === 'capabilities');
  const raw: Record<string, unknown> = Object.fromEntries(present);
  if (raw['capabilities'] === null) raw['capabilities'] = {};
  if (typeof raw['version'] === 'number') {
    const version = source.textOf(['version']) ?? String(raw['version']);
    warnings.push(
      `version (line ${source.lineOf(['version'])}): ${version} is a number in YAML; write "${version}"`,
    );
    raw['version'] = version;
  }
  inherit(raw, preparation);
  completeName(raw, preparation);
  return raw;
}

/** A name without a category takes it from the key `category` or from the registry folder. */
function completeName(raw: Record<string, unknown>, { source, context, warnings }: Preparation): void {
  const { name } = raw;
  const category = raw['category'] ?? placeOf(context.folder).category;
  if (typeof name !== 'string' || typeof category !== 'string') return;
  if (!isNameSegment(name) || !isNameSegment(category)) return;
  raw['name'] = `${category}/${name}`;
  warnings.push(`name (line ${source.lineOf(['name'])}): has no category; read as "${category}/${name}"`);
}

function inherit(raw: Record<string, unknown>, { context, warnings }: Preparation): void {
  const { inherited } = context;
  for (const key of ['name', 'version', 'description'] as const) {
    if (inherited !== undefined) raw[key] ??= inherited[key];
    if (raw[key] === undefined && key !== 'name')
      warnings.push(`${key}: Missing${key === 'version' ? '; read as "0.0.0"' : ''}`);
  }
}

/** Keys of earlier versions, with the message for each. */
const RETIRED_KEYS: Readonly<Record<string, string>> = {
  'container.reuse': 'Every call gets its own container; calls can no longer share one. Delete this key',
};

export function toProblems(issues: readonly z.core.$ZodIssue[], source: YamlSource): ManifestProblem[] {
  const problems = issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        const message = RETIRED_KEYS[path.join('.')] ?? `Unknown key ${quote(key)}`;
        return problemAt(path, message, source.lineOf(path));
      });
    }
    const message = issue.path.length === 1 && issue.path[0] === 'name' ? nameMessage(issue) : issue.message;
    return [problemAt(issue.path, shortLine(message), source.lineOf(issue.path))];
  });
  return problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function nameMessage(issue: z.core.$ZodIssue): string {
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  return missing ? 'Missing; write "name: category/name"' : issue.message;
}

function assemble(fields: ManifestFields, all: Record<string, unknown>): Manifest {
  const extra = Object.fromEntries(Object.entries(all).filter(([key]) => !READ_KEYS.has(key)));
  return {
    name: fields.name,
    version: fields.version,
    description: fields.description,
    ...(fields.short_description === undefined ? {} : { shortDescription: fields.short_description }),
    parameters: fields.parameters,
    outputs: fields.outputs,
    requirements: fields.requirements,
    execution: [...new Set(fields.execution)],
    ...(fields.execution_mode === undefined ? {} : { executionDemand: fields.execution_mode }),
    ...(fields.entry === undefined ? {} : { entry: fields.entry }),
    ...(fields.idempotent ? { idempotent: true } : {}),
    env: toEnv(fields.env_vars),
    capabilities: toCapabilities(fields.capabilities),
    declaresCapabilities: fields.capabilities !== undefined,
    limits: withoutUndefined<Limits>(fields.limits),
    ...(fields.container === undefined ? {} : { container: toContainer(fields.container) }),
    extra,
  };
}

export function toCapabilities(declared: ManifestFields['capabilities']): Capabilities {
  const filesystem = (declared?.filesystem ?? []).map(({ path, access, max_bytes: maxBytes }) =>
    withoutUndefined<FilesystemRule>({ path, access, maxBytes }),
  );
  const network = (declared?.network ?? []).map((rule) => withoutUndefined<NetworkRule>(rule));
  const programs = [...new Set(declared?.programs)];
  const skills = [...new Set(declared?.skills)];
  return {
    filesystem,
    network,
    syscalls: declared?.syscalls ?? 'default',
    ...(programs.length > 0 ? { programs } : {}),
    ...(skills.length > 0 ? { skills } : {}),
  };
}

export function toContainer({ build_network: buildNetwork, ...rule }: ContainerFields): ContainerRule {
  const { params, ...rest } = rule;
  return withoutUndefined<ContainerRule>({
    buildNetwork,
    ...rest,
    params: params as ContainerRule['params'],
  });
}

export function toEnv(rules: ManifestFields['env_vars']): Record<string, EnvRule> {
  const entries = Object.entries(rules).map(([name, { description, required, secret, hosts }]) => {
    const rule: EnvRule = { required, secret, hosts, ...(description === undefined ? {} : { description }) };
    return [name, rule] as const;
  });
  return Object.fromEntries(entries);
}

/** The object without its undefined values, as `exactOptionalPropertyTypes` requires. */
export function withoutUndefined<T>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T;
}

function contentWarnings(fields: ManifestFields, source: YamlSource): string[] {
  const warn = (path: readonly PropertyKey[], text: string): string =>
    `${formatPath(path)} (line ${source.lineOf(path)}): ${text}`;
  const top = Object.keys(source.value as object)
    .filter((key) => !READ_KEYS.has(key) && !CARRIED_KEYS.has(key))
    .map((key) => warn([key], 'Unknown key; it has no effect'));
  const env = Object.entries(fields.env_vars).flatMap(([name, rule]) => {
    const path = ['env_vars', name];
    const unknown = Object.keys(rule).filter((key) => !ENV_KEYS.has(key));
    const found = unknown.map((key) => warn([...path, key], 'Unknown key; it has no effect'));
    if (!rule.secret && rule.hosts.length > 0)
      found.push(warn(path, '"hosts" has no effect without "secret: true"'));
    return found;
  });
  return [...top, ...env];
}

function folderWarnings(name: string, folder: string | undefined): string[] {
  if (folder === undefined) return [];
  const place = placeOf(folder);
  const [category, own] = name.split('/');
  if (place.last === own && (place.category ?? category) === category) return [];
  const folderName = place.category === undefined ? place.last : `${place.category}/${place.last}`;
  return [`name: ${quote(name)} differs from its folder ${quote(folderName)}`];
}

/** A registry has the layout `<registry>/<category>/<name>`; in a flat layout the parent folder means nothing. */
const REGISTRY_FOLDERS: ReadonlySet<string> = new Set(['skills', 'installed']);

function placeOf(folder: string | undefined): { category?: string; last: string } {
  const parts = (folder ?? '').split(/[/\\]/).filter(Boolean);
  const [registry = '', category = '', last = ''] = ['', '', '', ...parts].slice(-3);
  return REGISTRY_FOLDERS.has(registry) ? { category, last } : { last };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
