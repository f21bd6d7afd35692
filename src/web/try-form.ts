/**
 * The form to try a skill, with its live output and outcome.
 *
 * @module
 */
import { events, send, skillPath } from './api.ts';
import { h, replace } from './dom.ts';
import { outcomeView } from './outcome-view.ts';
import { button, panel, problemOf } from './parts.ts';
import { schemaForm } from './schema-form.ts';
import type { Outcome, SkillPage } from './types.ts';

/** Output beyond this is not shown, to keep the page responsive. */
const MAX_LOG_LENGTH = 64 * 1024;

export function tryForm(skill: SkillPage): HTMLElement {
  const { element, read } = schemaForm(skill.parameters);
  const output = h('div', { class: 'try-output', attrs: { 'aria-live': 'polite' } });
  const run = h('button', { class: 'button primary', attrs: { type: 'submit' } }, 'Run');
  const form = h(
    'form',
    { class: 'try-form', attrs: { novalidate: true } },
    element,
    h('div', 'actions', run),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    run.disabled = true;
    const enable = (): void => {
      run.disabled = false;
    };
    runOnce(skill, read, output).then(enable, enable);
  });
  return panel('Try it', form, output);
}

async function runOnce(skill: SkillPage, read: () => unknown, output: HTMLElement): Promise<void> {
  const log = h('pre', { class: 'code log', attrs: { tabindex: '0', 'aria-label': 'Output' } });
  const state = h('span', 'pill neutral', 'queued');
  const controls = h('span', {});
  replace(output, h('p', 'facts', state, controls), log);
  log.hidden = true;
  try {
    const path = `${skillPath(skill.name)}/execute`;
    for await (const { event, data } of events(path, { method: 'POST', json: { params: read() ?? {} } })) {
      if (event === 'accepted') replace(controls, cancelButton(String(data['call_id'])));
      if (event === 'started') state.textContent = 'running';
      if (event === 'log') show(log, String(data['text']));
      if (event === 'done') replace(output, outcomeView(data['outcome'] as Outcome, skill), log);
    }
  } catch (error) {
    replace(output, problemOf(error), log);
  }
}

function show(log: HTMLElement, text: string): void {
  log.hidden = false;
  if (log.textContent.length < MAX_LOG_LENGTH) log.append(text);
  log.scrollTop = log.scrollHeight;
}

function cancelButton(id: string): HTMLElement {
  return button(
    'Cancel',
    () => {
      // An error means that the call has already ended.
      send('DELETE', `/v1/calls/${encodeURIComponent(id)}`).catch(() => undefined);
    },
    'small',
  );
}
