/**
 * Replaces the permissions in the text of a manifest. Everything else stays exactly as its author wrote it.
 *
 * @module
 */
import {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  visit,
  YAMLMap,
  YAMLSeq,
} from 'yaml';
import type { EnvRule, FilesystemRule, NetworkRule } from '../manifest/manifest.ts';
import { formatSize } from '../manifest/units.ts';
import type { Least, ObservedRule } from './least.ts';

const DENIED = ' requested, but denied in this run';
const LINE_WIDTH = 110;
/** The keys of a manifest that hold permissions. */
const KEYS = ['env_vars', 'capabilities', 'limits'] as const;

export function withPermissions(text: string, least: Least): string {
  const options = { version: '1.2', schema: 'core' } as const;
  const changed = parseDocument(text, options);
  setRules(changed, 'filesystem', least.filesystem.map(asFields));
  setRules(changed, 'network', least.network);
  setSkills(changed, least.skills ?? []);
  setEnv(changed, least);
  setProcesses(changed, least.processes);
  // A single key cannot be replaced in the text of a map in braces.
  const isBlock = !isMap(changed.contents) || changed.contents.flow !== true;
  if (!isBlock) return changed.toString({ lineWidth: LINE_WIDTH });
  return KEYS.reduce((result, key) => withKey(result, key, changed), text);
}

/** Replaces one key in the text, unless its value is the same. */
function withKey(text: string, key: string, changed: Document): string {
  const present = parseDocument(text, { version: '1.2', schema: 'core' });
  const before = pairOf(present, key);
  const after = pairOf(changed, key);
  if (isSame(valueOf(before, present), valueOf(after, changed)) && Boolean(before) === Boolean(after))
    return text;
  const written = after ? textOf(after, changed) : '';
  if (!before) return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${written}`;
  const start = isNode(before.key) ? (before.key.range?.[0] ?? 0) : 0;
  const end = isNode(before.value) ? (before.value.range?.[2] ?? text.length) : text.length;
  const rest = text.slice(end).replace(/^\n/, text.slice(0, end).endsWith('\n') ? '\n' : '');
  return text.slice(0, start) + written + rest;
}

function pairOf(document: Document, key: string): Pair | undefined {
  if (!isMap(document.contents)) return undefined;
  return document.contents.items.find((pair) => nameOf(pair.key) === key);
}

function valueOf(pair: Pair | undefined, document: Document): unknown {
  return isNode(pair?.value) ? pair.value.toJS(document) : undefined;
}

/** The pair as the text of a document of its own, with aliases resolved. */
function textOf(pair: Pair, document: Document): string {
  const standalone = new Document(new YAMLMap());
  let hasAlias = false;
  if (isNode(pair.value))
    visit(pair.value, {
      Alias: () => {
        hasAlias = true;
      },
    });
  standalone.set(nameOf(pair.key), hasAlias ? standalone.createNode(valueOf(pair, document)) : pair.value);
  return standalone.toString({ lineWidth: LINE_WIDTH });
}

type Plain = Record<string, unknown>;

function asFields({ rule, denied }: ObservedRule<FilesystemRule>): ObservedRule<Plain> {
  const { path, access, maxBytes } = rule;
  const size = maxBytes === undefined ? {} : { max_bytes: formatSize(maxBytes) };
  return { rule: { path, access, ...size }, denied };
}

/** An unchanged rule keeps its line; an empty list is removed. */
function setRules(
  document: Document,
  key: 'filesystem' | 'network',
  rules: ObservedRule<Plain | NetworkRule>[],
): void {
  const capabilities = mapAt(document, 'capabilities');
  const before = capabilities.get(key, true);
  const known = isSeq(before) ? before.items : [];
  if (rules.length === 0) {
    capabilities.delete(key);
    return;
  }
  const list = new YAMLSeq();
  list.items = rules.map(({ rule, denied }) => {
    const same = known.find((item) => isNode(item) && isSameRule(item.toJS(document), rule));
    return same ?? inOneLine(document, rule, denied);
  });
  capabilities.set(key, list);
}

function setSkills(document: Document, skills: ObservedRule<string>[]): void {
  const capabilities = mapAt(document, 'capabilities');
  if (skills.length === 0) {
    capabilities.delete('skills');
    return;
  }
  const list = new YAMLSeq();
  list.items = skills.map(({ rule, denied }) => inOneLine(document, rule, denied));
  capabilities.set('skills', list);
}

function setEnv(document: Document, { env }: Least): void {
  const variables = mapAt(document, 'env_vars');
  for (const { key } of [...variables.items]) if (!Object.hasOwn(env, nameOf(key))) variables.delete(key);
  for (const [name, { rule, denied }] of Object.entries(env)) {
    const known: unknown = variables.get(name, true);
    if (isNode(known) && isSame(envFieldsOf(known.toJS(document)), envFields(rule))) continue;
    const description = rule.description === undefined ? {} : { description: rule.description };
    variables.set(name, inOneLine(document, { ...description, ...envFields(rule) }, denied));
  }
  if (variables.items.length === 0) document.delete('env_vars');
}

function setProcesses(document: Document, processes: number | undefined): void {
  const limits = mapAt(document, 'limits');
  if (processes === undefined) limits.delete('processes');
  else limits.set('processes', processes);
  if (limits.items.length === 0) document.delete('limits');
}

/** The map under this key; a missing or empty one is replaced by a block map. */
function mapAt(document: Document, key: string): YAMLMap {
  const present: unknown = document.get(key, true);
  if (isMap(present) && present.items.length > 0) return present;
  const made = new YAMLMap();
  document.set(key, made);
  return made;
}

function nameOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

function envFields({ required, secret, hosts }: EnvRule): Plain {
  return { ...(required ? { required } : {}), ...(secret ? { secret, hosts } : {}) };
}

/** The written fields without those that have no effect. */
function envFieldsOf(written: unknown): Plain {
  const { required = false, secret = false, hosts = [] } = (written ?? {}) as Partial<EnvRule>;
  return envFields({ required, secret, hosts });
}

function inOneLine(document: Document, value: unknown, denied: boolean): unknown {
  const node = document.createNode(value, { flow: true });
  if (denied) node.comment = DENIED;
  return node;
}

/** A rule without its default access is the same rule. */
function isSameRule(written: unknown, rule: Plain | NetworkRule): boolean {
  return isSame(written, rule) || isSame({ access: 'read', ...(written as Plain) }, rule);
}

function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

/** Equal for equal data, regardless of the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
