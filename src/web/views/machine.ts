/**
 * The modes this machine supports, and what enforces each field.
 *
 * @module
 */
import { get } from '../api.ts';
import { h, replace } from '../dom.ts';
import { details, heading, table } from '../parts.ts';
import type { Pair } from '../types.ts';
import type { View } from '../view.ts';

export const machineView: View = async (page) => {
  replace(page, heading('Machine'), h('p', 'muted', 'Probing this machine…'));
  const { pairs } = await get<{ pairs: Pair[] }>('/v1/machine');
  replace(page, heading('Machine'), pairs.map(panelFor));
};

function panelFor({ mode, wall, engine, available, summary, fix, enforces }: Pair): HTMLElement {
  return h(
    'section',
    'panel',
    h(
      'h2',
      'facts',
      `${mode}: ${wall} + ${engine}`,
      h('span', available ? 'pill good' : 'pill warn', available ? 'available' : 'unavailable'),
    ),
    h('p', 'muted', summary),
    fix !== undefined && h('p', {}, fix),
    details(
      'Enforcement',
      table(
        ['Field', 'Enforced by', 'How'],
        enforces.map(({ field, by, how }) => [h('code', {}, field), h('span', `by by-${by}`, by), how]),
      ),
    ),
  );
}
