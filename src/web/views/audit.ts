/**
 * The audit log: filtered, page by page, denials highlighted.
 *
 * @module
 */
import { get } from '../api.ts';
import { h, replace } from '../dom.ts';
import { filterBar } from '../filters.ts';
import { day, ms } from '../format.ts';
import { button, empty, heading, problemOf, statusPill } from '../parts.ts';
import { callerLink, findPage, modeText, pageLinks } from '../receipt-page.ts';
import type { StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';

const PATH = 'audit';

export const auditView: View = async (page, context) => {
  const { identity, query } = context;
  const list = h('ol', 'receipts');
  const links = h('div', { class: 'actions', attrs: { role: 'group', 'aria-label': 'Pages' } });
  let before = query.get('before');
  let shows = 0;
  const show = async (): Promise<void> => {
    const number = (shows += 1);
    const selected = bar.selected();
    const { receipts, older } = await findPage(selected, before);
    // The user may have changed the filters in the meantime.
    if (number !== shows) return;
    replace(list, receipts.length > 0 ? receipts.map(row) : h('li', 'empty', 'No receipt matches.'));
    replace(links, pageLinks({ path: PATH, selected, isFirst: before === null, older }));
  };
  const onChange = (): void => {
    before = null;
    show().catch((error: unknown) => replace(list, h('li', {}, problemOf(error))));
  };
  const bar = filterBar({ path: PATH, context, onChange });
  const chain = identity.scopes.includes('admin') ? verifyButton() : undefined;
  replace(list, h('li', 'empty', empty('Loading receipts…')));
  replace(page, heading('Audit', chain), bar.element, list, links);
  await show();
};

function row({ seq, receipt }: StoredReceipt): HTMLElement {
  const { call_id, skill, code, limit, started_at, caller, usage, denied, denied_count, message } = receipt;
  return h(
    'li',
    denied_count > 0 ? 'receipt denied' : 'receipt',
    h(
      'p',
      'receipt-head',
      h('a', { class: 'receipt-skill', attrs: { href: `#/${PATH}/${call_id}` } }, skill.name),
      statusPill(code, limit),
      (denied_count > 1 || (denied_count === 1 && code !== 'capability_denied')) &&
        h('span', 'pill bad', `${denied_count} denied`),
      h('span', 'muted small', `${day(started_at)}${seq === undefined ? '' : ` · no. ${seq}`}`),
    ),
    h(
      'p',
      'receipt-facts small',
      callerLink(PATH, caller),
      h('span', 'muted', modeText(receipt)),
      h('span', 'muted', ms(usage.wall_ms)),
    ),
    denied
      .slice(0, 3)
      .map(({ capability, asked }) =>
        h('p', 'denial', h('strong', {}, capability), ' ', h('code', {}, asked)),
      ),
    code !== 'ok' && message !== undefined && denied_count === 0 && h('p', 'muted small', message),
  );
}

/** Verifies the hash chain of the whole log. */
export function verifyButton(): HTMLElement {
  const answer = h('span', { attrs: { role: 'status' } });
  const check = async (): Promise<void> => {
    const { ok, count, reason } = await get<{ ok: boolean; count: number; reason?: string }>(
      '/v1/receipts/verify',
    );
    const text = ok ? `${count} receipts, chain intact` : `broken: ${reason ?? ''}`;
    replace(answer, h('span', ok ? 'pill good' : 'pill bad', text));
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
