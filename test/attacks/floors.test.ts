/**
 * The corpus only grows: no attack loses its control unnoticed.
 *
 * @module
 */
import { describe, expect, it } from 'vitest';
import { CORPORA } from '../../attacks/runner/attack-row.ts';
import { declaredControls, LEAST_CONTROLS } from '../../attacks/runner/floors.ts';

describe('the controls of the corpus', () => {
  it.each(CORPORA)('are not fewer than before in %s', (corpus) => {
    expect(declaredControls()[corpus]).toBeGreaterThanOrEqual(LEAST_CONTROLS[corpus]);
  });
});
