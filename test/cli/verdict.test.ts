/**
 * The verdict of `doctor`, for machines that differ in what they have.
 */
import { describe, expect, test } from 'vitest';
import type { PairReport } from '../../src/inside.ts';
import { judgePairs, verdictLines } from '../../src/cli/verdict.ts';
import { ENFORCED_FIELDS, type EnforcedField } from '../../src/vocabulary/capabilities.ts';

interface Facts {
  nobody?: EnforcedField[];
  missing?: string;
  summary?: string;
}

const ALL = [...ENFORCED_FIELDS];

function pair(
  place: [PairReport['mode'], PairReport['wall'], PairReport['engine']],
  facts: Facts = {},
): PairReport {
  const [mode, wall, engine] = place;
  const by = (field: EnforcedField): 'kernel' | 'nobody' =>
    facts.nobody?.includes(field) ? 'nobody' : 'kernel';
  return {
    mode,
    wall,
    engine,
    available: facts.missing === undefined,
    summary: facts.summary ?? 'some version',
    ...(facts.missing === undefined ? {} : { fix: facts.missing }),
    enforces: Object.fromEntries(
      ENFORCED_FIELDS.map((field) => [field, { by: by(field), how: '' }]),
    ) as PairReport['enforces'],
  };
}

const PYTHON = ['subprocess', 'jail', 'python'] as const;
const NODE = ['subprocess', 'jail', 'node'] as const;
const EXEC = ['container', 'container', 'exec'] as const;
const HERE = { hasSystemd: false };

describe('the verdict of doctor', () => {
  test('has five lines', () => {
    expect(verdictLines(judgePairs([pair([...PYTHON]), pair([...NODE])], HERE))).toHaveLength(5);
    expect(verdictLines(judgePairs([], HERE))).toHaveLength(5);
  });

  test('never calls a pair available that refuses a limit', () => {
    const { pairs, next } = judgePairs([pair([...PYTHON]), pair([...NODE], { nobody: ['memory'] })], HERE);
    expect(pairs.map(({ state, refuses }) => [state, refuses])).toEqual([
      ['available', []],
      ['partial', ['memory']],
    ]);
    expect(next?.adds).toBe('limits on memory for subprocess (JavaScript and TypeScript)');
    expect(verdictLines({ pairs, next })[0]).toBe('runs      subprocess (Python)');
    expect(verdictLines({ pairs, next })[1]).toContain('a skill that limits memory is refused');
  });

  test('calls in_process unisolated and never lists it as running', () => {
    const verdict = judgePairs([pair(['in_process', 'none', 'node'], { nobody: ALL })], HERE);
    expect(verdict.pairs[0]?.state).toBe('unisolated');
    expect(verdictLines(verdict)[0]).toBe('runs      nothing in full');
  });

  test('proposes the jail before anything else, then Python, then a cgroup, then containers', () => {
    const jail = pair([...NODE], { missing: 'apt-get install bubblewrap' });
    const python = pair([...PYTHON], { missing: 'apt-get install python3' });
    const limited = pair([...NODE], { nobody: ['memory'] });
    const images = pair([...EXEC], { missing: 'apt-get install crun' });
    const next = (...pairs: PairReport[]): string | undefined =>
      judgePairs(pairs, { hasSystemd: true }).next?.step;
    expect(next(images, python, jail)).toBe('apt-get install bubblewrap');
    expect(next(images, limited, python)).toBe('apt-get install python3');
    expect(next(images, limited)).toContain('systemd-run --user --scope -p Delegate=yes');
    expect(next(images)).toBe('apt-get install crun');
    expect(next(pair([...PYTHON]))).toBeUndefined();
  });

  test('does not propose to install an engine that is installed and does not start', () => {
    const images = pair([...EXEC], {
      missing: 'apt-get install crun',
      summary: 'crun: cannot start a container',
    });
    expect(judgePairs([images], HERE).next).toBeUndefined();
  });
});
