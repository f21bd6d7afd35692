/**
 * Components shared by several views.
 *
 * @module
 */
import { ApiError } from './api.ts';
import { h, type Child } from './dom.ts';
import { statusText } from './format.ts';
import type { Badge, CapabilityEvent, ErrorBody } from './types.ts';

export function badge({ risk, label }: Badge): HTMLElement {
  return h('span', { class: `badge risk-${risk}`, attrs: { title: `${risk} risk` } }, label);
}

/** The status of a past call, by colour and by word. */
export function statusPill(code: string, limit?: string): HTMLElement {
  const kind =
    code === 'ok' ? 'good' : code === 'cancelled' ? 'neutral' : code === 'capability_denied' ? 'bad' : 'warn';
  return h('span', `pill ${kind}`, statusText(code, limit));
}

export function heading(title: string, ...aside: Child[]): HTMLElement {
  const h1 = h('h1', { attrs: { tabindex: '-1' } }, title);
  return h('header', 'page-head', h1, h('div', 'page-aside', ...aside));
}

export function panel(title: string, ...children: Child[]): HTMLElement {
  return h('section', 'panel', h('h2', {}, title), ...children);
}

export function problem({ code, message, fix }: ErrorBody): HTMLElement {
  return h(
    'div',
    { class: 'notice bad', attrs: { role: 'alert' } },
    h('p', 'notice-title', statusText(code)),
    h('p', {}, message),
    h('p', 'muted', fix),
  );
}

export function problemOf(error: unknown): HTMLElement {
  if (error instanceof ApiError) return problem(error.body);
  const message = error instanceof Error ? error.message : String(error);
  return problem({ code: 'internal', message, fix: 'Reload the page.' });
}

export function denials(denied: readonly CapabilityEvent[]): HTMLElement | undefined {
  if (denied.length === 0) return undefined;
  const rows = denied.map(({ capability, asked, declared }) =>
    h('li', {}, h('strong', {}, capability), ' ', h('code', {}, asked), h('span', 'muted', ` ${declared}`)),
  );
  return h('div', 'notice bad', h('p', 'notice-title', `Denied: ${denied.length}`), h('ul', 'plain', rows));
}

export function json(value: unknown): HTMLElement {
  return h('pre', { class: 'code', attrs: { tabindex: '0' } }, JSON.stringify(value, null, 2) ?? 'null');
}

export function details(summary: string, ...children: Child[]): HTMLDetailsElement {
  return h('details', 'fold', h('summary', {}, summary), ...children);
}

export function table(columns: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const cells = (row: readonly Child[]): Child[] =>
    row.map((cell, at) => h('td', { attrs: { 'data-label': columns[at] ?? '' } }, cell));
  return h(
    'div',
    { class: 'scroll', attrs: { tabindex: '0' } },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((name) => h('th', { attrs: { scope: 'col' } }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => h('tr', {}, cells(row))),
      ),
    ),
  );
}

export function empty(text: string): HTMLElement {
  return h('p', 'empty', text);
}

export function button(label: string, onClick: () => void, kind = ''): HTMLButtonElement {
  return h('button', { class: `button ${kind}`, attrs: { type: 'button' }, on: { click: onClick } }, label);
}
