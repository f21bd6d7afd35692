/**
 * One page of receipts, and the links to the pages around it.
 *
 * @module
 */
import { get } from './api.ts';
import { h, type Child } from './dom.ts';
import { addressOf } from './filters.ts';
import { day } from './format.ts';
import { whoIs } from './caller.ts';
import type { Receipt, StoredReceipt } from './types.ts';

export interface ReceiptPage {
  receipts: StoredReceipt[];
  older?: string;
}

/** The service searches a part of the log per request; a rare match may be further back. */
const MAX_REQUESTS = 20;

export async function findPage(selected: URLSearchParams, before: string | null): Promise<ReceiptPage> {
  const query = new URLSearchParams(selected);
  if (before !== null) query.set('before', before);
  let page = await get<ReceiptPage>(`/v1/receipts?limit=50&${query.toString()}`);
  for (let n = 1; n < MAX_REQUESTS && page.receipts.length === 0 && page.older !== undefined; n++) {
    query.set('before', page.older);
    page = await get<ReceiptPage>(`/v1/receipts?limit=50&${query.toString()}`);
  }
  return page;
}

export interface Around {
  path: string;
  selected: URLSearchParams;
  isFirst: boolean;
  older: string | undefined;
}

export function pageLinks({ path, selected, isFirst, older }: Around): Child {
  const next = new URLSearchParams(selected);
  if (older !== undefined) next.set('before', older);
  return [
    !isFirst && h('a', { class: 'button', attrs: { href: addressOf(path, selected) } }, 'Newest'),
    older !== undefined && h('a', { class: 'button', attrs: { href: addressOf(path, next) } }, 'Older'),
  ];
}

/** The caller, as a link to all of its calls. */
export function callerLink(path: string, caller: string): HTMLElement {
  const { name, tenant } = whoIs(caller);
  const href = addressOf(path, new URLSearchParams({ caller }));
  return h(
    'span',
    'caller',
    h('a', { attrs: { href, title: caller } }, name),
    tenant !== undefined && h('span', 'muted small', ` of ${tenant}`),
  );
}

export function modeText({ execution }: Pick<Receipt, 'execution'>): string {
  return execution ? `${execution.mode} · ${execution.wall}` : 'nothing ran';
}

/** The time alone for today, otherwise with the date. */
export function whenText(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString(undefined, { hour12: false }) : day(iso);
}
