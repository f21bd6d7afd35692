/**
 * The audit log: searchable, denials highlighted, full receipts on request.
 *
 * @module
 */
import { get } from '../api.ts';
import { append, h, replace, type Child } from '../dom.ts';
import { bytes, CODES, day, ms, statusText } from '../format.ts';
import { button, denials, details, empty, heading, json, panel, problemOf, statusPill } from '../parts.ts';
import type { StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';

const PAGE = 50;

export const auditView: View = async (page, { argument, identity }) => {
  if (argument !== '') return showOne(page, argument);
  const list = h('ol', 'receipts');
  const more = button('Show older', () => loadOrReport(list.childElementCount > 0));
  const filters = filterForm(() => loadOrReport(false));
  const chain = identity.scopes.includes('admin') ? verifyButton() : undefined;
  replace(page, heading('Audit', chain), filters.element, list, h('div', 'actions', more));
  let oldest: string | undefined;
  const loadOrReport = (older: boolean): void => {
    load(older).catch((error: unknown) => replace(list, problemOf(error)));
  };
  const load = async (older: boolean): Promise<void> => {
    const query = filters.query();
    if (older && oldest !== undefined) query.set('before', oldest);
    try {
      const found = await get<{ receipts: StoredReceipt[]; older?: string }>(`/v1/receipts?${query}`);
      if (!older) replace(list);
      append(list, found.receipts.map(row));
      if (list.childElementCount === 0) append(list, [empty('No receipt matches.')]);
      oldest = found.older;
      more.hidden = oldest === undefined;
    } catch (error) {
      replace(list, problemOf(error));
    }
  };
  await load(false);
};

function filterForm(onChange: () => void): { element: HTMLElement; query: () => URLSearchParams } {
  const skill = h('input', { attrs: { type: 'search', placeholder: 'category/name', name: 'skill' } });
  const code = h(
    'select',
    { attrs: { name: 'code' } },
    h('option', { attrs: { value: '' } }, 'any'),
    CODES.map((value) => h('option', { attrs: { value } }, statusText(value))),
  );
  const denied = h('input', { attrs: { type: 'checkbox', name: 'denied' } });
  const element = h(
    'form',
    { class: 'filters', attrs: { role: 'search' } },
    h('label', {}, h('span', {}, 'Skill'), skill),
    h('label', {}, h('span', {}, 'Status'), code),
    h('label', 'check', denied, h('span', {}, 'only with denials')),
    h('button', { class: 'button', attrs: { type: 'submit' } }, 'Search'),
  );
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    onChange();
  });
  for (const input of [code, denied]) input.addEventListener('change', onChange);
  return {
    element,
    query: () => {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (skill.value.trim() !== '') query.set('skill', skill.value.trim());
      if (code.value !== '') query.set('code', code.value);
      if (denied.checked) query.set('denied', 'true');
      return query;
    },
  };
}

function row({ seq, receipt }: StoredReceipt): HTMLElement {
  const { call_id, skill, code, limit, started_at, usage, denied, denied_count, message } = receipt;
  return h(
    'li',
    denied_count > 0 ? 'receipt denied' : 'receipt',
    h(
      'p',
      'receipt-head',
      h('a', { class: 'receipt-skill', attrs: { href: `#/audit/${call_id}` } }, skill.name),
      statusPill(code, limit),
      (denied_count > 1 || (denied_count === 1 && code !== 'capability_denied')) &&
        h('span', 'pill bad', `${denied_count} denied`),
      h(
        'span',
        'muted small',
        `${day(started_at)} · ${ms(usage.wall_ms)}${seq === undefined ? '' : ` · no. ${seq}`}`,
      ),
    ),
    denied
      .slice(0, 3)
      .map(({ capability, asked }) =>
        h('p', 'denial', h('strong', {}, capability), ' ', h('code', {}, asked)),
      ),
    code !== 'ok' && message !== undefined && denied_count === 0 && h('p', 'muted small', message),
  );
}

async function showOne(page: HTMLElement, id: string): Promise<void> {
  const stored = await get<StoredReceipt>(`/v1/receipts/${encodeURIComponent(id)}`);
  const { receipt, seq, hash } = stored;
  const { skill, code, limit, usage, denied, message, execution, caller, started_at } = receipt;
  const rows: [string, Child][] = [
    ['Skill', h('a', { attrs: { href: `#/skills/${skill.name}` } }, `${skill.name} ${skill.version}`)],
    ['Status', statusPill(code, limit)],
    ['Started', day(started_at)],
    ['Caller', caller],
    ['Mode', execution ? `${execution.mode} · ${execution.wall} · ${execution.engine}` : 'nothing ran'],
    ['Usage', `${ms(usage.wall_ms)}, ${ms(usage.cpu_ms)} CPU, ${bytes(usage.memory_peak_bytes)}`],
    ...(seq === undefined ? [] : ([['Position in the log', `no. ${seq}`]] satisfies [string, Child][])),
    ...(hash === undefined ? [] : ([['Hash', h('code', 'break', hash)]] satisfies [string, Child][])),
  ];
  replace(
    page,
    heading('Receipt', h('a', { attrs: { href: '#/audit' } }, 'All receipts')),
    h('p', 'muted mono break', id),
    denials(denied),
    message !== undefined && h('p', 'lead', message),
    panel(
      'Details',
      h(
        'dl',
        'pairs',
        rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
    ),
    details('Full receipt', json(receipt)),
  );
}

function verifyButton(): HTMLElement {
  const answer = h('span', { attrs: { role: 'status' } });
  const check = async (): Promise<void> => {
    const { ok, count, reason } = await get<{ ok: boolean; count: number; reason?: string }>(
      '/v1/receipts/verify',
    );
    replace(
      answer,
      h(
        'span',
        ok ? 'pill good' : 'pill bad',
        ok ? `${count} receipts, chain intact` : `broken: ${reason ?? ''}`,
      ),
    );
  };
  return h(
    'span',
    'facts',
    answer,
    button('Verify chain', () => {
      check().catch((error: unknown) => replace(answer, problemOf(error)));
    }),
  );
}
