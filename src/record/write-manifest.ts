/**
 * The text of a manifest with other permissions: everything else stays as its author wrote it, comments too.
 *
 * @module
 */
import { type Document, isMap, isNode, isSeq, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import type { EnvRule, FilesystemRule, NetworkRule } from '../manifest/manifest.ts';
import { formatSize } from '../manifest/units.ts';
import type { Least, Noted } from './least.ts';

const DENIED = ' asked for, and denied in this run';
const LINE_WIDTH = 110;

export function withPermissions(text: string, least: Least): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  for (const key of ['capabilities', 'env_vars'])
    if (!isMap(document.get(key, true))) document.set(key, new YAMLMap());
  setRules(document, 'filesystem', least.filesystem.map(asFields));
  setRules(document, 'network', least.network);
  setEnv(document, least);
  setProcesses(document, least.processes);
  return document.toString({ lineWidth: LINE_WIDTH });
}

type Plain = Record<string, unknown>;

function asFields({ rule, denied }: Noted<FilesystemRule>): Noted<Plain> {
  const { path, access, maxBytes } = rule;
  const size = maxBytes === undefined ? {} : { max_bytes: formatSize(maxBytes) };
  return { rule: { path, access, ...size }, denied };
}

/** A rule that was there keeps its line; a list that becomes empty goes. */
function setRules(
  document: Document,
  key: 'filesystem' | 'network',
  rules: Noted<Plain | NetworkRule>[],
): void {
  const path = ['capabilities', key];
  const before = document.getIn(path, true);
  const known = isSeq(before) ? before.items : [];
  if (rules.length === 0) {
    document.deleteIn(path);
    return;
  }
  const list = new YAMLSeq();
  list.items = rules.map(({ rule, denied }) => {
    const same = known.find((item) => isNode(item) && isSame(item.toJS(document), rule));
    return same ?? inOneLine(document, rule, denied);
  });
  if (isSeq(before)) list.commentBefore = before.commentBefore ?? null;
  document.setIn(path, list);
}

function setEnv(document: Document, { env }: Least): void {
  const before = document.get('env_vars', true);
  const names = Object.keys(env);
  if (isMap(before))
    for (const { key } of [...before.items])
      if (!names.includes(String(key))) document.deleteIn(['env_vars', String(key)]);
  if (names.length === 0) {
    document.delete('env_vars');
    return;
  }
  for (const [name, { rule, denied }] of Object.entries(env)) {
    const known: unknown = document.getIn(['env_vars', name], true);
    if (isNode(known) && isSame(envFieldsOf(known.toJS(document)), envFields(rule))) continue;
    const description = rule.description === undefined ? {} : { description: rule.description };
    document.setIn(['env_vars', name], inOneLine(document, { ...description, ...envFields(rule) }, denied));
  }
}

function setProcesses(document: Document, processes: number | undefined): void {
  if (processes !== undefined) document.setIn(['limits', 'processes'], processes);
  else if (document.hasIn(['limits', 'processes'])) document.deleteIn(['limits', 'processes']);
  const limits: unknown = document.get('limits', true);
  if (isMap(limits) && limits.items.length === 0) document.delete('limits');
}

function envFields({ required, secret, hosts }: EnvRule): Plain {
  return { ...(required ? { required } : {}), ...(secret ? { secret, hosts } : {}) };
}

/** What is written, with nothing in it that has no effect. */
function envFieldsOf(written: unknown): Plain {
  const { required = false, secret = false, hosts = [] } = (written ?? {}) as Partial<EnvRule>;
  return envFields({ required, secret, hosts });
}

function inOneLine(document: Document, value: unknown, denied: boolean): unknown {
  const node = document.createNode(value, { flow: true });
  if (denied) node.comment = DENIED;
  return node;
}

/** A rule that leaves out its default is the same rule. */
function isSame(written: unknown, rule: Plain | NetworkRule): boolean {
  const sorted = (value: unknown): string =>
    JSON.stringify(Object.entries((value ?? {}) as Plain).sort(([a], [b]) => (a < b ? -1 : 1)));
  return (
    sorted(written) === sorted(rule) || sorted({ access: 'read', ...(written as Plain) }) === sorted(rule)
  );
}
