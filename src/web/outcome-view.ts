/**
 * The outcome of a call: result or error, denials, resource usage.
 *
 * @module
 */
import { resultCard } from './card.ts';
import { h } from './dom.ts';
import { bytes, ms } from './format.ts';
import { denials, details, statusPill, json, problem } from './parts.ts';
import type { Outcome, SkillPage } from './types.ts';

export function outcomeView(outcome: Outcome, skill: Pick<SkillPage, 'card'>): HTMLElement {
  const { ok, error, result, execution, usage, capabilities, warnings } = outcome;
  const where = execution ? `${execution.mode} · ${execution.wall} · ${execution.engine}` : 'nothing ran';
  const card = ok ? resultCard(skill.card, result) : undefined;
  return h(
    'div',
    { class: 'outcome', attrs: { role: 'status' } },
    h(
      'p',
      'facts',
      statusPill(ok ? 'ok' : (error?.code ?? 'internal')),
      h('span', {}, where),
      h('span', {}, ms(usage.wall_ms)),
      usage.memory_peak_bytes > 0 && h('span', {}, bytes(usage.memory_peak_bytes)),
      h('a', { attrs: { href: `#/audit/${outcome.call_id}` } }, 'receipt'),
    ),
    // A single denial is already described by the error.
    error && problem(error),
    (capabilities.denied.length > 1 || error?.code !== 'capability_denied') && denials(capabilities.denied),
    card,
    ok && (card ? details('Full result', json(result)) : json(result)),
    warnings.length > 0 &&
      details(
        `Warnings (${warnings.length})`,
        h(
          'ul',
          {},
          warnings.map((text) => h('li', {}, text)),
        ),
      ),
  );
}
