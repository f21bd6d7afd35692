/**
 * Running calls with their output, and past calls, both filtered.
 *
 * @module
 */
import { events, get, send } from '../api.ts';
import { h, replace } from '../dom.ts';
import { filterBar } from '../filters.ts';
import { clock, ms } from '../format.ts';
import { button, empty, heading, panel, problemOf, statusPill, table } from '../parts.ts';
import { callerLink, modeText, pageLinks, whenText } from '../receipt-page.ts';
import type { LiveCall, StoredReceipt } from '../types.ts';
import type { View } from '../view.ts';

const EVERY_MS = 2000;
const PATH = 'calls';

interface Calls {
  running: LiveCall[];
  past: StoredReceipt[];
  older?: string;
}

export const callsView: View = async (page, context) => {
  const { signal, identity, query } = context;
  const running = h('div', {});
  const past = h('div', {});
  const output = h('div', {});
  const mayCancel = identity.scopes.includes('call') || identity.scopes.includes('admin');
  const links = h('div', { class: 'actions', attrs: { role: 'group', 'aria-label': 'Pages' } });
  let before = query.get('before');
  let lastAnswer = '';
  let asked = 0;
  const refresh = async (): Promise<void> => {
    const number = (asked += 1);
    const selected = bar.selected();
    const wanted = new URLSearchParams({ ...Object.fromEntries(selected), limit: '20' });
    if (before !== null) wanted.set('before', before);
    const answer = await get<Calls>(`/v1/calls?${wanted.toString()}`);
    // Unchanged content is not replaced, so that it keeps its focus.
    const text = JSON.stringify([selected.toString(), answer]);
    if (number !== asked || text === lastAnswer) return;
    lastAnswer = text;
    const { older } = answer;
    replace(running, answer.running.length === 0 ? empty('No calls are running.') : list(answer.running));
    replace(past, answer.past.length === 0 ? empty('No past call matches.') : pastTable(answer.past));
    replace(links, pageLinks({ path: PATH, selected, isFirst: before === null, older }));
  };
  const onChange = (): void => {
    before = null;
    refresh().catch((error: unknown) => replace(past, problemOf(error)));
  };
  const bar = filterBar({ path: PATH, context, onChange });
  const recent = panel(before === null ? 'Recent' : 'Older calls', past, links);
  replace(page, heading('Calls'), bar.element, panel('Running', running), output, recent);
  const list = (calls: LiveCall[]): HTMLElement =>
    table(
      ['Skill', 'Started', 'State', 'Caller', 'Actions'],
      calls.map((call) => [
        h('a', { attrs: { href: `#/skills/${call.skill}` } }, call.skill),
        clock(call.started_at),
        h('span', 'pill neutral', call.state),
        callerLink(PATH, call.caller),
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
    ['Skill', 'Started', 'Status', 'Caller', 'Mode', 'Duration', 'Details'],
    receipts.map(({ receipt }) => [
      h('a', { attrs: { href: `#/skills/${receipt.skill.name}` } }, receipt.skill.name),
      whenText(receipt.started_at),
      [
        statusPill(receipt.code, receipt.limit),
        receipt.denied_count > 0 &&
          receipt.code !== 'capability_denied' &&
          h('span', 'pill bad', `${receipt.denied_count} denied`),
      ],
      callerLink(PATH, receipt.caller),
      modeText(receipt),
      ms(receipt.usage.wall_ms),
      h('a', { attrs: { href: `#/${PATH}/${receipt.call_id}` } }, 'receipt'),
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
