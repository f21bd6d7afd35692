/**
 * Shows a result on the card of its skill (`card.json`), which chooses fields, labels and colour.
 *
 * @module
 */
import { h, type Child } from './dom.ts';
import { json } from './parts.ts';

interface CardField {
  key: string;
  label: string;
  type: string | undefined;
}

const COLOUR = /^#[0-9a-f]{6}$/i;
const MAX_FIELDS = 40;

/** Undefined if there is no card, or none of its fields are in the result. */
export function resultCard(
  card: Record<string, unknown> | undefined,
  result: unknown,
): HTMLElement | undefined {
  const fields = card ? fieldsOf(card) : [];
  const rows = fields.flatMap(({ key, label, type }) => {
    const value = valueAt(result, key);
    return value === undefined ? [] : [row(label, value, type)];
  });
  if (!card || rows.length === 0) return undefined;
  const element = h(
    'article',
    'result-card',
    h('h3', {}, textOf(card['name']) ?? 'Result'),
    h('dl', {}, rows),
  );
  const colour = textOf(card['color']);
  if (colour !== undefined && COLOUR.test(colour)) element.style.setProperty('--card', colour);
  return element;
}

function fieldsOf(card: Record<string, unknown>): CardField[] {
  const schema = card['ui_schema'];
  const fields = isRecord(schema) ? schema['fields'] : undefined;
  if (!Array.isArray(fields)) return [];
  return fields.slice(0, MAX_FIELDS).flatMap((field: unknown) => {
    if (!isRecord(field)) return [];
    const key = textOf(field['key']);
    if (key === undefined) return [];
    return [{ key, label: textOf(field['label']) ?? key, type: textOf(field['type']) }];
  });
}

function row(label: string, value: unknown, type: string | undefined): HTMLElement {
  const kind = type === 'count' ? 'card-row count' : 'card-row';
  return h('div', kind, h('dt', {}, label), h('dd', {}, formatValue(value, type)));
}

function formatValue(value: unknown, type: string | undefined): Child {
  if (type === 'tags' && Array.isArray(value)) return value.map((tag) => h('span', 'tag', plain(tag)));
  if (type === 'status_badge') return h('span', 'pill neutral', plain(value));
  if (typeof value === 'object' && value !== null) return json(value);
  return plain(value);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Follows a dotted path through own properties only. */
function valueAt(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined;
}
