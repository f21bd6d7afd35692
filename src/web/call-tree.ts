/**
 * A tree of calls as a timeline: a program, and each call inside, one bar per call. The source of the program is beside it
 * if the operator keeps parameters.
 *
 * @module
 */
import { get } from './api.ts';
import { h, svg, type Child } from './dom.ts';
import { ms } from './format.ts';
import { panel, statusPill, table } from './parts.ts';
import type { Receipt, StoredReceipt } from './types.ts';

const GENERATED = 'generated';
/** A bar that is thinner cannot be seen. */
const THINNEST = 0.4;
const HEIGHT = 12;
/** More rows are of no use to a person; the receipts list them all. */
const MAX_ROWS = 200;

/** Undefined for a call that made no others and was made by none. */
export async function treePanel(receipt: Receipt): Promise<Child> {
  const path = `/v1/receipts/${encodeURIComponent(receipt.call_id)}/tree`;
  const { receipts } = await get<{ receipts: StoredReceipt[] }>(path);
  const calls = receipts.map((one) => one.receipt);
  if (calls.length < 2 && receipt.origin !== GENERATED) return undefined;
  return panel('Calls of this tree', timeline(calls, receipt.call_id), sourceOf(calls));
}

function timeline(calls: readonly Receipt[], current: string): Child {
  const begins = calls.map(({ started_at }) => Date.parse(started_at));
  const ends = calls.map(({ usage }, at) => (begins[at] ?? 0) + usage.wall_ms);
  const from = Math.min(...begins);
  const whole = Math.max(1, Math.max(...ends) - from);
  const rows = calls
    .slice(0, MAX_ROWS)
    .map((call, at) => [
      name(call, current),
      statusPill(call.code, call.limit),
      ms(call.usage.wall_ms),
      bar(((begins[at] ?? from) - from) / whole, call.usage.wall_ms / whole),
    ]);
  const left = calls.length - rows.length;
  return [
    table(['Call', 'Status', 'Time', 'When'], rows),
    left > 0 && h('p', 'muted small', `${left} more calls are not shown.`),
  ];
}

/** Names of skills are text of others, so they stay text. */
function name({ call_id, skill, depth = 0 }: Receipt, current: string): HTMLElement {
  const text = `${'\u2007\u2007'.repeat(depth)}${skill.name}`;
  if (call_id === current) return h('strong', 'tree-name', text);
  return h('a', { class: 'tree-name', attrs: { href: `#/calls/${encodeURIComponent(call_id)}` } }, text);
}

function bar(begin: number, length: number): SVGElement {
  const width = Math.max(THINNEST, length * 100);
  const x = Math.min(begin * 100, 100 - THINNEST);
  const label = `from ${Math.round(begin * 100)} % to ${Math.round(Math.min(1, begin + length) * 100)} % of the tree`;
  const rect = svg('rect', { class: 'tree-bar', x: `${x}%`, y: 2, width: `${width}%`, height: HEIGHT - 4 });
  return svg(
    'svg',
    { class: 'tree-line', width: '100%', height: HEIGHT, role: 'img', 'aria-label': label },
    rect,
  );
}

function sourceOf(calls: readonly Receipt[]): Child {
  const program = calls.find(({ origin, depth }) => origin === GENERATED && depth === undefined);
  if (!program) return undefined;
  const { source } = (program.params ?? {}) as { source?: unknown };
  if (typeof source === 'string') return [h('h3', {}, 'Source'), h('pre', 'tree-source', source)];
  const digest = program.execution?.generated;
  return h(
    'p',
    'muted small',
    `The source was not kept${digest === undefined ? '' : `. Its digest is ${digest}`}.`,
  );
}
