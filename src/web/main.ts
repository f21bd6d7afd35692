/**
 * The console: a navigation frame, and the view named by the URL fragment.
 *
 * @module
 */
import { ApiError, forgetToken, get, hasToken, takeTokenFromAddress } from './api.ts';
import { h, replace } from './dom.ts';
import { heading, problemOf } from './parts.ts';
import { askForToken } from './sign-in.ts';
import { applyTheme, currentTheme, switchTheme } from './theme.ts';
import type { Identity } from './types.ts';
import type { View } from './view.ts';
import { auditView } from './views/audit.ts';
import { callView } from './views/call.ts';
import { callsView } from './views/calls.ts';
import { metricsView } from './views/metrics.ts';
import { machineView } from './views/machine.ts';
import { skillView } from './views/skill.ts';
import { skillsView } from './views/skills.ts';

interface Place {
  path: string;
  label: string;
  view: View;
  /** Shows what the rest of the URL names, such as one skill. */
  one?: View;
  /** One of them is enough. */
  scopes: readonly string[];
}

const PLACES: readonly Place[] = [
  { path: 'skills', label: 'Skills', view: skillsView, one: skillView, scopes: ['call', 'read', 'admin'] },
  { path: 'calls', label: 'Calls', view: callsView, one: callView, scopes: ['read', 'admin'] },
  { path: 'audit', label: 'Audit', view: auditView, one: callView, scopes: ['read', 'admin'] },
  { path: 'metrics', label: 'Metrics', view: metricsView, scopes: ['read', 'admin'] },
  { path: 'machine', label: 'Machine', view: machineView, scopes: ['read', 'admin'] },
];

async function start(): Promise<void> {
  applyTheme();
  takeTokenFromAddress();
  const identity = await identify();
  const places = PLACES.filter(({ scopes }) => scopes.some((scope) => identity.scopes.includes(scope)));
  const page = h('main', { attrs: { id: 'page', tabindex: '-1' } });
  const links = places.map(({ path, label }) =>
    h('a', { class: `nav-${path}`, attrs: { href: `#/${path}` } }, label),
  );
  replace(document.body, skipLink(page), frame(links, identity), page);
  let leaving = new AbortController();
  const show = (isFirst: boolean): void => {
    leaving.abort();
    leaving = new AbortController();
    const { path, argument, query } = readAddress();
    for (const link of links) {
      if (link.getAttribute('href') === `#/${path}`) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    const place = places.find((one) => one.path === path) ?? places[0];
    const view = argument === '' ? place?.view : (place?.one ?? place?.view);
    document.title = `${argument || (place?.label ?? '')} · Skillcell`;
    if (!view) return;
    const filling = fill(view, page, { argument, query, identity, signal: leaving.signal, isFirst });
    filling.catch((error: unknown) => replace(page, problemOf(error)));
  };
  addEventListener('hashchange', () => show(false));
  show(true);
}

interface Filling {
  argument: string;
  query: URLSearchParams;
  identity: Identity;
  signal: AbortSignal;
  isFirst: boolean;
}

async function fill(view: View, page: HTMLElement, { isFirst, ...context }: Filling): Promise<void> {
  // A new element for each view, so that an abandoned view cannot overwrite the next one.
  const part = h('div', 'view');
  replace(page, part);
  try {
    await view(part, context);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return signOut();
    replace(part, heading('Something went wrong'), problemOf(error));
  }
  // Moves the focus for keyboard and screen-reader users.
  if (!isFirst && !context.signal.aborted) part.querySelector('h1')?.focus();
}

interface Address {
  path: string;
  argument: string;
  query: URLSearchParams;
}

function readAddress(): Address {
  const [place = '', query = ''] = location.hash.replace(/^#\//, '').split('?', 2);
  const [path = '', ...rest] = place.split('/');
  return {
    path: path === '' || path.startsWith('#') ? 'skills' : path,
    argument: rest.map(decoded).join('/'),
    query: new URLSearchParams(query),
  };
}

/** A broken escape in a shared link must not break the page. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function identify(): Promise<Identity> {
  try {
    if (hasToken()) return await get<Identity>('/v1/me');
  } catch {
    forgetToken();
  }
  return askForToken(document.body);
}

function frame(links: HTMLElement[], { tenant, token, scopes }: Identity): HTMLElement {
  const theme = h('button', { class: 'quiet', attrs: { type: 'button' } }, themeWord());
  theme.addEventListener('click', () => {
    switchTheme();
    theme.textContent = themeWord();
  });
  const leave = h(
    'button',
    { class: 'quiet', attrs: { type: 'button' }, on: { click: signOut } },
    'Sign out',
  );
  const brand = h(
    'a',
    { class: 'brand', attrs: { href: '#/skills' } },
    h('img', { attrs: { src: '/ui/icon.svg', alt: '', width: 26, height: 26 } }),
    'Skillcell',
  );
  const account = h(
    'p',
    {},
    h('strong', {}, token),
    h('span', 'muted small', `${tenant} · ${scopes.join(', ')}`),
  );
  const nav = h('nav', { attrs: { 'aria-label': 'Main' } }, links);
  return h('header', 'frame', h('div', 'frame-inner', brand, nav, h('div', 'who', account, theme, leave)));
}

function themeWord(): string {
  return { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' }[currentTheme()];
}

/** A button instead of a link, because #page would be read as the name of a view. */
function skipLink(page: HTMLElement): HTMLElement {
  const skip = h('button', { class: 'skip', attrs: { type: 'button' } }, 'Skip to content');
  skip.addEventListener('click', () => page.focus());
  return skip;
}

function signOut(): void {
  forgetToken();
  location.hash = '';
  location.reload();
}

await start();
