/**
 * Saves the selected receipts as a file. The token is in a header, so a plain link cannot do it.
 *
 * @module
 */
import { part } from './api.ts';
import { h, replace } from './dom.ts';
import { button, problemOf } from './parts.ts';

type Format = 'jsonl' | 'csv';

/** With 10000 receipts each; more belong into `skillcell audit export`. */
const MAX_PARTS = 10;

export function exportButtons(selected: () => URLSearchParams): HTMLElement {
  const state = h('span', { class: 'muted small', attrs: { role: 'status' } });
  const start = (format: Format): void => {
    replace(state, 'Exporting…');
    save(selected(), format).then(
      (text) => replace(state, text),
      (error: unknown) => replace(state, problemOf(error)),
    );
  };
  return h(
    'div',
    'actions export',
    h('span', 'muted small', 'Export what is selected:'),
    button('JSONL', () => start('jsonl'), 'small'),
    button('CSV', () => start('csv'), 'small'),
    state,
  );
}

async function save(query: URLSearchParams, format: Format): Promise<string> {
  query.set('format', format);
  const texts: string[] = [];
  let next: string | undefined = `/v1/receipts/export?${query.toString()}`;
  while (next !== undefined && texts.length < MAX_PARTS) {
    const answer: { text: string; next?: string } = await part(next);
    texts.push(format === 'csv' && texts.length > 0 ? withoutHead(answer.text) : answer.text);
    next = answer.next;
  }
  offer(new Blob(texts, { type: 'text/plain' }), `receipts.${format}`);
  if (next === undefined) return 'Saved.';
  return 'Saved the newest ones. For all, select a shorter time, or run skillcell audit export.';
}

function withoutHead(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

function offer(blob: Blob, name: string): void {
  const href = URL.createObjectURL(blob);
  const link = h('a', { attrs: { href, download: name } });
  link.click();
  // The browser has taken the content by then.
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
