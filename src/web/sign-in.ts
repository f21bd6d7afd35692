/**
 * The sign-in form.
 *
 * @module
 */
import { forgetToken, get, keepToken } from './api.ts';
import { h, replace } from './dom.ts';
import { problemOf } from './parts.ts';
import type { Identity } from './types.ts';

/** Resolves with the identity behind the token, once a valid one is entered. */
export function askForToken(root: HTMLElement): Promise<Identity> {
  const { promise, resolve } = Promise.withResolvers<Identity>();
  const input = h('input', {
    attrs: { type: 'password', name: 'token', autocomplete: 'off', spellcheck: 'false', required: true },
  });
  const answer = h('div', {});
  const submit = async (): Promise<void> => {
    keepToken(input.value);
    try {
      resolve(await get<Identity>('/v1/me'));
    } catch (error) {
      forgetToken();
      replace(answer, problemOf(error));
      input.select();
    }
  };
  const form = h(
    'form',
    'sign-in',
    h('img', { attrs: { src: '/ui/icon.svg', alt: '', width: 40, height: 40 } }),
    h('h1', {}, 'Skillcell'),
    h('p', 'muted', 'Untrusted AI-agent skills, each call in a fresh sandbox.'),
    h('label', 'field', h('span', 'field-name', 'Token'), input),
    h('button', { class: 'button primary', attrs: { type: 'submit' } }, 'Sign in'),
    answer,
    h(
      'p',
      'muted small',
      'Create one with ',
      h('code', {}, 'skillcell tokens create NAME'),
      '. It stays in this tab.',
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit().catch((error: unknown) => replace(answer, problemOf(error)));
  });
  replace(root, form);
  input.focus();
  return promise;
}
