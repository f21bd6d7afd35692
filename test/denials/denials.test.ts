/**
 * The same act gets the same denial in every mode, and docs/denials.md says so.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ACTS } from '../../scripts/denials/acts.ts';
import { COLUMNS } from '../../scripts/denials/engines.ts';
import { runDenials, type Denials } from '../../scripts/denials/run.ts';
import { formatDenials } from '../../scripts/denials/table.ts';
import { createRuntime } from '../../src/runtime.ts';
import { seedImages } from '../cell/images/base-image.ts';
import { writeAgentSkill } from '../write-agent-skill.ts';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'denials.md');
const ACT_SH = join(import.meta.dirname, '..', '..', 'scripts', 'denials', 'act.sh');
let denials: Denials;
/** Hundreds of calls in every mode, so it takes minutes even on a quiet machine. */
const TABLE_MS = 1_800_000;
beforeAll(async () => void (denials = await runDenials(seedImages)), TABLE_MS);

describe.each(COLUMNS)('$title', ({ title }) => {
  it.each(ACTS)('$name gets the documented answer', (act) => {
    const cell = denials.rows.find((row) => row.act === act)?.cells[title];
    expect([act.answer, 'stopped', 'n/a'], cell?.why).toContain(cell?.answer);
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

/** Each act of a shell, with what it needs. */
const SHELL_CONTROLS: [act: string, args: string[], manifest: Record<string, unknown>][] = [
  ['read', ['/workspace/in.txt'], {}],
  ['environment', ['HOME'], {}],
  ['crowd', [], { limits: { processes: 40 } }],
  ['scratch', [], { limits: { scratch: '96MiB' } }],
];

it.each(SHELL_CONTROLS)(
  'the act "%s" of a shell succeeds where it is granted',
  async (act, args, manifest) => {
    const folder = mkdtempSync('/var/tmp/skillcell-controls-');
    chmodSync(folder, 0o755);
    // Skillcell's own folder may not be below the workspace.
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'in.txt'), 'in');
    const files = { 'scripts/act.sh': readFileSync(ACT_SH, 'utf8') };
    const dir = writeAgentSkill(folder, { files, manifest });
    try {
      await using runtime = createRuntime({ home: join(folder, 'home'), cwd: folder, pool: { size: 0 } });
      const outcome = await runtime.exec(dir, ['bash', 'scripts/act.sh', act, ...args], { workspace });
      expect(outcome.result.stdout, JSON.stringify(outcome)).toContain('did');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

it('the table marks an answer that differs', () => {
  const [act] = ACTS;
  const cells = { here: { answer: 'ok', why: 'it did' }, there: { answer: 'n/a', why: 'no such thing' } };
  const table = formatDenials([{ act: act!, cells }]);
  expect(table).toContain('| **ok** | n/a [1] |');
  expect(table).toContain('1. no such thing');
});
