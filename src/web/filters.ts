/**
 * The filters of the calls and audit views. They are kept in the URL, so that a view can be shared.
 *
 * @module
 */
import { h } from './dom.ts';
import { exportButtons } from './export-buttons.ts';
import { CODES, MODES, statusText } from './format.ts';
import type { ViewContext } from './view.ts';

type FilterName = 'skill' | 'code' | 'denied' | 'caller' | 'tenant' | 'mode' | 'since' | 'until';

const NAMES: readonly FilterName[] = [
  'skill',
  'code',
  'denied',
  'caller',
  'tenant',
  'mode',
  'since',
  'until',
];
/** Behind "More filters". */
const MORE: readonly FilterName[] = ['caller', 'tenant', 'mode', 'since', 'until'];

export interface FilterBar {
  element: HTMLElement;
  /** What is selected, as the service expects it. */
  selected: () => URLSearchParams;
}

export interface FilterOptions {
  /** Name of the view. */
  path: string;
  context: ViewContext;
  onChange: () => void;
}

/** The part of a query that selects receipts; everything else in a URL is ignored. */
function selectedIn(query: URLSearchParams): URLSearchParams {
  const found = NAMES.flatMap((name) => {
    const value = query.get(name)?.trim() ?? '';
    return value === '' ? [] : [[name, value] as [string, string]];
  });
  return new URLSearchParams(found);
}

export function addressOf(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? `#/${path}` : `#/${path}?${text}`;
}

export function filterBar({ path, context, onChange }: FilterOptions): FilterBar {
  const { query, identity } = context;
  const fields = fieldsFor(query, identity.scopes.includes('admin'));
  const selected = (): URLSearchParams => selectedIn(new URLSearchParams(valuesOf(fields)));
  const apply = (): void => {
    // Not `location.hash`, which would replace the whole view and take the focus away.
    history.pushState(null, '', addressOf(path, selected()));
    onChange();
  };
  const more = MORE.filter((name) => fields.has(name));
  const folded = h(
    'details',
    { class: 'fold more-filters', attrs: { open: more.some((name) => query.has(name)) } },
    h('summary', {}, 'More filters'),
    h(
      'div',
      'filters',
      more.map((name) => fields.get(name)?.label),
    ),
  );
  const element = h(
    'form',
    { class: 'panel filter-panel', attrs: { role: 'search' } },
    h(
      'div',
      'filters',
      fields.get('skill')?.label,
      fields.get('code')?.label,
      fields.get('denied')?.label,
      h('button', { class: 'button', attrs: { type: 'submit' } }, 'Search'),
      h('a', { class: 'clear', attrs: { href: `#/${path}` } }, 'Clear'),
    ),
    folded,
    exportButtons(selected),
  );
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    apply();
  });
  for (const name of ['code', 'denied', 'mode', 'since', 'until'] as const)
    fields.get(name)?.input.addEventListener('change', apply);
  return { element, selected };
}

interface Field {
  input: HTMLInputElement | HTMLSelectElement;
  label: HTMLElement;
}

type Fields = ReadonlyMap<FilterName, Field>;

function fieldsFor(query: URLSearchParams, isAdmin: boolean): Fields {
  const value = (name: FilterName): string => query.get(name) ?? '';
  const denied = h('input', { attrs: { type: 'checkbox', name: 'denied' } });
  denied.checked = value('denied') === 'true';
  const codes: Option[] = CODES.map((code) => [code, statusText(code)]);
  const modes: Option[] = MODES.map((mode) => [mode, mode]);
  const fields: [FilterName, Field][] = [
    ['skill', textField({ name: 'skill', title: 'Skill', hint: 'category/name' }, value('skill'))],
    ['code', choiceField({ name: 'code', title: 'Status' }, codes, value('code'))],
    ['denied', { input: denied, label: h('label', 'check', denied, h('span', {}, 'only with denials')) }],
    ['caller', textField({ name: 'caller', title: 'Caller', hint: 'http:tenant:token' }, value('caller'))],
    ['tenant', textField({ name: 'tenant', title: 'Tenant', hint: '' }, value('tenant'))],
    ['mode', choiceField({ name: 'mode', title: 'Mode' }, modes, value('mode'))],
    ['since', timeField({ name: 'since', title: 'From' }, value('since'))],
    ['until', timeField({ name: 'until', title: 'Until' }, value('until'))],
  ];
  return new Map(fields.filter(([name]) => isAdmin || name !== 'tenant'));
}

type Option = [value: string, text: string];

interface FieldName {
  name: FilterName;
  title: string;
}

function textField({ name, title, hint }: FieldName & { hint: string }, value: string): Field {
  const input = h('input', { attrs: { type: 'search', name, placeholder: hint, autocomplete: 'off' } });
  input.value = value;
  return { input, label: h('label', {}, h('span', {}, title), input) };
}

function choiceField({ name, title }: FieldName, options: readonly Option[], value: string): Field {
  const all: readonly Option[] = [['', 'any'], ...options];
  const input = h(
    'select',
    { attrs: { name } },
    all.map(([key, text]) => h('option', { attrs: { value: key } }, text)),
  );
  input.value = options.some(([key]) => key === value) ? value : '';
  return { input, label: h('label', {}, h('span', {}, title), input) };
}

/** Shown in the time zone of the browser, sent as UTC. */
function timeField({ name, title }: FieldName, value: string): Field {
  const input = h('input', { attrs: { type: 'datetime-local', name } });
  const date = new Date(value);
  if (value !== '' && !Number.isNaN(date.getTime())) input.value = localText(date);
  return { input, label: h('label', {}, h('span', {}, title), input) };
}

function localText(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function valuesOf(fields: Fields): Record<string, string> {
  return Object.fromEntries([...fields].map(([name, { input }]) => [name, valueOf(input)]));
}

function valueOf(input: Field['input']): string {
  if (input.type === 'checkbox') return input instanceof HTMLInputElement && input.checked ? 'true' : '';
  if (input.type !== 'datetime-local' || input.value === '') return input.value;
  return new Date(input.value).toISOString();
}
