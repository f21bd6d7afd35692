/**
 * Running calls with their output, and the most recent past calls.
 *
 * @module
 */
import { events, get, send } from '../api.ts';
import { h, replace } from '../dom.ts';
import { clock, ms } from '../format.ts';
import { button, empty, heading, panel, problemOf, statusPill, table } from '../parts.ts';
import type { LiveCall, StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';

const EVERY_MS = 2000;

export const callsView: View = async (page, { signal, identity }) => {
  const running = h('div', {});
  const past = h('div', {});
  const output = h('div', {});
  const mayCancel = identity.scopes.includes('call') || identity.scopes.includes('admin');
  replace(page, heading('Calls'), panel('Running', running), output, panel('Recent', past));
  let lastAnswer = '';
  const refresh = async (): Promise<void> => {
    const answer = await get<{ running: LiveCall[]; past: StoredReceipt[] }>('/v1/calls?limit=20');
    // Unchanged content is not replaced, so that it keeps its focus.
    if (JSON.stringify(answer) === lastAnswer) return;
    lastAnswer = JSON.stringify(answer);
    replace(running, answer.running.length === 0 ? empty('No calls are running.') : list(answer.running));
    replace(past, answer.past.length === 0 ? empty('No calls yet.') : pastTable(answer.past));
  };
  const list = (calls: LiveCall[]): HTMLElement =>
    table(
      ['Skill', 'Started', 'State', 'Caller', ''],
      calls.map((call) => [
        h('a', { attrs: { href: `#/skills/${call.skill}` } }, call.skill),
        clock(call.started_at),
        h('span', 'pill neutral', call.state),
        call.caller,
        [
          button(
            'Watch',
            () => {
              watch(call, output, signal).catch((error: unknown) => replace(output, problemOf(error)));
            },
            'small',
          ),
          mayCancel &&
            button(
              'Cancel',
              () => {
                const cancelled = send('DELETE', `/v1/calls/${call.call_id}`).then(refresh);
                cancelled.catch((error: unknown) => replace(running, problemOf(error)));
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

function pastTable(receipts: StoredReceipt[]): HTMLElement {
  return table(
    ['Skill', 'Started', 'Status', 'Duration', ''],
    receipts.map(({ receipt }) => [
      h('a', { attrs: { href: `#/skills/${receipt.skill.name}` } }, receipt.skill.name),
      clock(receipt.started_at),
      [
        statusPill(receipt.code, receipt.limit),
        receipt.denied_count > 0 &&
          receipt.code !== 'capability_denied' &&
          h('span', 'pill bad', `${receipt.denied_count} denied`),
      ],
      ms(receipt.usage.wall_ms),
      h('a', { attrs: { href: `#/audit/${receipt.call_id}` } }, 'receipt'),
    ]),
  );
}

/** Shows the output of a call live. */
async function watch(call: LiveCall, place: HTMLElement, signal: AbortSignal): Promise<void> {
  const log = h('pre', { class: 'code log', attrs: { tabindex: '0', 'aria-live': 'polite' } });
  const state = h('p', 'muted', 'Waiting for output…');
  replace(place, panel(`Output of ${call.skill}`, state, log));
  try {
    for await (const { event, data } of events(`/v1/calls/${call.call_id}/events`, { signal })) {
      if (event === 'log') log.append(String(data['text']));
      if (event === 'done') state.textContent = 'The call has ended.';
      log.scrollTop = log.scrollHeight;
    }
  } catch (error) {
    if (!signal.aborted) replace(place, problemOf(error));
  }
}
