/**
 * The same act gets the same denial in every mode, and docs/denials.md says so.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ACTS } from '../../scripts/denials/acts.ts';
import { COLUMNS } from '../../scripts/denials/engines.ts';
import { runDenials, type Denials } from '../../scripts/denials/run.ts';
import { formatDenials } from '../../scripts/denials/table.ts';
import { seedImages } from '../cell/images/base-image.ts';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'denials.md');
let denials: Denials;
beforeAll(async () => void (denials = await runDenials(seedImages)));

describe.each(COLUMNS)('$title', ({ title }) => {
  it.each(ACTS)('$name gets the documented answer', (act) => {
    const cell = denials.rows.find((row) => row.act === act)?.cells[title];
    expect([act.answer, 'n/a'], cell?.why).toContain(cell?.answer);
    expect(cell?.why).not.toBe('');
  });
});

it('no attempted act does any harm', () => {
  expect(denials.harm).toEqual([]);
});

it('every act gets its answer from at least two engines', () => {
  for (const { act, cells } of denials.rows) {
    const answers = Object.values(cells).filter(({ answer }) => answer === act.answer);
    expect(answers.length, act.name).toBeGreaterThanOrEqual(2);
  }
});

/** Removes the padding that the formatter adds to columns. */
function plain(text: string): string {
  return text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
}

it('docs/denials.md is up to date (otherwise run npm run denials -- --write)', () => {
  expect(plain(readFileSync(DOCUMENT, 'utf8'))).toContain(plain(formatDenials(denials.rows)));
});

it('the table marks an answer that differs', () => {
  const [act] = ACTS;
  const cells = { here: { answer: 'ok', why: 'it did' }, there: { answer: 'n/a', why: 'no such thing' } };
  const table = formatDenials([{ act: act!, cells }]);
  expect(table).toContain('| **ok** | n/a [1] |');
  expect(table).toContain('1. no such thing');
});
