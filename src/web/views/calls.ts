/**
 * Calls as they run, with what they print, and the newest that ended.
 *
 * @module
 */
import { events, get, send } from '../api.ts';
import { h, replace } from '../dom.ts';
import { clock, ms } from '../format.ts';
import { button, empty, endPill, heading, panel, problemOf, table } from '../parts.ts';
import type { LiveCall, StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';

const EVERY_MS = 2000;

export const callsView: View = async (page, { signal, identity }) => {
  const running = h('div', {});
  const past = h('div', {});
  const watched = h('div', {});
  const mayCancel = identity.scopes.includes('call') || identity.scopes.includes('admin');
  replace(page, heading('Calls'), panel('Running', running), watched, panel('Just ended', past));
  let shown = '';
  const refresh = async (): Promise<void> => {
    const answer = await get<{ running: LiveCall[]; past: StoredReceipt[] }>('/v1/calls?limit=20');
    // What has not changed keeps its place and its focus.
    if (JSON.stringify(answer) === shown) return;
    shown = JSON.stringify(answer);
    replace(running, answer.running.length === 0 ? empty('Nothing is running.') : list(answer.running));
    replace(past, answer.past.length === 0 ? empty('No calls yet.') : ended(answer.past));
  };
  const list = (calls: LiveCall[]): HTMLElement =>
    table(
      ['Skill', 'Since', 'State', 'Caller', ''],
      calls.map((call) => [
        h('a', { attrs: { href: `#/skills/${call.skill}` } }, call.skill),
        clock(call.started_at),
        h('span', 'pill neutral', call.state),
        call.caller,
        [
          button(
            'Watch',
            () => {
              watch(call, watched, signal).catch((error: unknown) => replace(watched, problemOf(error)));
            },
            'small',
          ),
          mayCancel &&
            button(
              'Cancel',
              () => {
                const asked = send('DELETE', `/v1/calls/${call.call_id}`).then(refresh);
                asked.catch((error: unknown) => replace(running, problemOf(error)));
              },
              'small',
            ),
        ],
      ]),
    );
  await refresh();
  const timer = setInterval(() => {
    if (!document.hidden) refresh().catch((error: unknown) => replace(running, problemOf(error)));
  }, EVERY_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
};

function ended(receipts: StoredReceipt[]): HTMLElement {
  return table(
    ['Skill', 'At', 'Ended', 'Took', ''],
    receipts.map(({ receipt }) => [
      h('a', { attrs: { href: `#/skills/${receipt.skill.name}` } }, receipt.skill.name),
      clock(receipt.started_at),
      [
        endPill(receipt.code, receipt.limit),
        receipt.denied_count > 0 &&
          receipt.code !== 'capability_denied' &&
          h('span', 'pill bad', `${receipt.denied_count} denied`),
      ],
      ms(receipt.usage.wall_ms),
      h('a', { attrs: { href: `#/audit/${receipt.call_id}` } }, 'receipt'),
    ]),
  );
}

/** What a call prints, as it prints it. */
async function watch(call: LiveCall, place: HTMLElement, signal: AbortSignal): Promise<void> {
  const log = h('pre', { class: 'code log', attrs: { tabindex: '0', 'aria-live': 'polite' } });
  const state = h('p', 'muted', 'Waiting for output…');
  replace(place, panel(`Output of ${call.skill}`, state, log));
  try {
    for await (const { event, data } of events(`/v1/calls/${call.call_id}/events`, { signal })) {
      if (event === 'log') log.append(String(data['text']));
      if (event === 'done') state.textContent = 'It has ended.';
      log.scrollTop = log.scrollHeight;
    }
  } catch (error) {
    if (!signal.aborted) replace(place, problemOf(error));
  }
}
