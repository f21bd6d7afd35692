/**
 * A command may rely on the probe of an earlier one only under the same circumstances, and only until a jail does not open.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ProbeMemory } from '../../../../src/cell/walls/jail/probe-memory.ts';
import { createRuntime, type Outcome } from '../../../../src/index.ts';
import { folderPerTest } from '../../../test-folder.ts';
import { writeSkill } from '../../../write-skill.ts';

const HOUR_MS = 60 * 60 * 1000;
const folder = folderPerTest();
const file = (): string => folder.at('probes', 'jail.json');

function memory(given: { programs?: string[]; cellId?: number } = {}): ProbeMemory {
  return new ProbeMemory({ home: folder.path, programs: ['/bin/sh'], cellId: 65_432, ...given });
}

/** Changes what the file says about the circumstances. */
function rewrite(change: (circumstances: Record<string, unknown>) => void): void {
  const entry = JSON.parse(readFileSync(file(), 'utf8')) as { circumstances: string };
  const circumstances = JSON.parse(entry.circumstances) as Record<string, unknown>;
  change(circumstances);
  writeFileSync(file(), JSON.stringify({ ...entry, circumstances: JSON.stringify(circumstances) }));
}

describe('what is remembered of a probe', () => {
  test('counts in the next process, and is a file that only its owner can use', () => {
    expect(memory().recall()).toBeUndefined();
    memory().keep('bubblewrap 0.8.0');
    expect(memory().recall()).toBe('bubblewrap 0.8.0');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(folder.at('probes')).mode & 0o777).toBe(0o700);
    memory().forget();
    expect(memory().recall()).toBeUndefined();
  });

  test('does not count after a day, nor from the future', () => {
    memory().keep('x', 1000 * HOUR_MS);
    expect(memory().recall(1024 * HOUR_MS - 1)).toBe('x');
    expect(memory().recall(1024 * HOUR_MS)).toBeUndefined();
    expect(memory().recall(1000 * HOUR_MS - 1)).toBeUndefined();
  });

  test.each<[string, (circumstances: Record<string, unknown>) => void]>([
    ['another version of Skillcell', (known) => (known['skillcell'] = '0.0.0')],
    ['another Node', (known) => (known['node'] = 'v24.0.0')],
    ['another kernel', (known) => (known['kernel'] = ['6.0.0', '#1'])],
    ['another boot', (known) => ((known['settings'] as string[])[0] = 'another-boot-id\n')],
    ['other rights', (known) => ((known['rights'] as string[])[0] = 'Uid:\t1\t1\t1\t1')],
    ['another container', (known) => ((known['namespaces'] as string[])[2] = 'mnt:[1]')],
    ['another program', (known) => ((known['programs'] as string[][])[0]![2] = '1')],
  ])('does not count under %s', (_, change) => {
    memory().keep('x');
    rewrite(() => undefined);
    expect(memory().recall()).toBe('x');
    rewrite(change);
    expect(memory().recall()).toBeUndefined();
  });

  test('does not count for another user of cells, nor for a program that was replaced', () => {
    const program = folder.at('program');
    copyFileSync('/bin/sh', program);
    memory({ programs: [program] }).keep('x');
    expect(memory({ programs: [program] }).recall()).toBe('x');
    expect(memory({ programs: [program], cellId: 1 }).recall()).toBeUndefined();
    copyFileSync('/bin/sh', folder.at('other'));
    renameSync(folder.at('other'), program);
    expect(memory({ programs: [program] }).recall()).toBeUndefined();
    rmSync(program);
    expect(memory({ programs: [program] }).recall()).toBeUndefined();
  });

  const others: [string, () => void][] = [
    ['a file that others can read', () => chmodSync(file(), 0o644)],
    ['a folder that others can enter', () => chmodSync(folder.at('probes'), 0o755)],
    [
      'a link',
      () => (renameSync(file(), folder.at('elsewhere')), symlinkSync(folder.at('elsewhere'), file())),
    ],
    [
      'a linked folder',
      () => (
        renameSync(folder.at('probes'), folder.at('p')),
        symlinkSync(folder.at('p'), folder.at('probes'))
      ),
    ],
    ['a folder in its place', () => (rmSync(file()), mkdirSync(file(), { mode: 0o700 }))],
    ['half a file', () => writeFileSync(file(), readFileSync(file(), 'utf8').slice(0, 50))],
    ['a huge file', () => writeFileSync(file(), readFileSync(file(), 'utf8') + ' '.repeat(100_000))],
    [
      'an entry without a time',
      () => writeFileSync(file(), readFileSync(file(), 'utf8').replace(/"at":\d+/, '"at":null')),
    ],
  ];
  // Only root can give files away.
  if (process.getuid?.() === 0) {
    others.push(['a file of another user', () => chownSync(file(), 65_534, 65_534)]);
    others.push(['a folder of another user', () => chownSync(folder.at('probes'), 65_534, 65_534)]);
  }

  test.each(others)('does not count in %s', (_, change) => {
    memory().keep('x');
    expect(memory().recall()).toBe('x');
    change();
    expect(memory().recall()).toBeUndefined();
    expect(() => memory().forget()).not.toThrow();
  });

  test('is not written where others could change it', () => {
    mkdirSync(folder.at('probes'), { mode: 0o755 });
    chmodSync(folder.at('probes'), 0o777);
    memory().keep('x');
    expect(existsSync(file())).toBe(false);
  });
});

describe('a runtime that makes one call', () => {
  /** Opens jails, counts them, and stops when told to: what a changed kernel setting looks like from outside. */
  function fakeBubblewrap(): string {
    const program = folder.at('bwrap');
    const lines = [
      '#!/bin/sh',
      `[ "$1" = --version ] && exec /usr/bin/bwrap --version`,
      `echo started >> ${folder.at('count')}`,
      `[ -e ${folder.at('closed')} ] && { echo "bwrap: No permissions to create new namespace" >&2; exit 1; }`,
      'exec /usr/bin/bwrap "$@"',
    ];
    writeFileSync(program, `${lines.join('\n')}\n`, { mode: 0o755 });
    return program;
  }

  async function call(remembersProbe: boolean): Promise<{ outcome: Outcome; jails: number }> {
    rmSync(folder.at('count'), { force: true });
    writeFileSync(folder.at('count'), '', { mode: 0o666 });
    chmodSync(folder.at('count'), 0o666);
    await using runtime = createRuntime({
      home: folder.at('home'),
      pool: { size: 0 },
      jail: { bwrap: folder.at('bwrap'), remembersProbe },
    });
    const outcome = await runtime.execute(folder.at('skill'), {}, { isolated: true, reject: false });
    return { outcome, jails: readFileSync(folder.at('count'), 'utf8').split('\n').filter(Boolean).length };
  }

  async function jailOpens(): Promise<boolean> {
    await using runtime = createRuntime({
      home: folder.at('home'),
      jail: { bwrap: folder.at('bwrap'), remembersProbe: true },
    });
    const pairs = await runtime.doctor();
    return pairs.some(({ wall, available }) => wall === 'jail' && available);
  }

  test('probes once, is refused when the jail no longer opens, and probes again after that', async () => {
    chmodSync(folder.path, 0o755);
    fakeBubblewrap();
    const source = 'def execute(params):\n    return 1';
    const dir = writeSkill(folder.path, { source, manifest: { execution: ['subprocess'] } });
    renameSync(dir, folder.at('skill'));
    const remembered = join(folder.at('home'), 'probes', 'jail.json');

    // The first call also inspects the source in a jail.
    expect(await call(true)).toMatchObject({ outcome: { ok: true }, jails: 3 });
    expect(existsSync(remembered)).toBe(true);
    expect(await call(true)).toMatchObject({ outcome: { ok: true }, jails: 1 });
    expect(await call(false)).toMatchObject({ outcome: { ok: true }, jails: 2 });

    writeFileSync(folder.at('closed'), '');
    const first = await call(true);
    expect(first).toMatchObject({ outcome: { ok: false, error: { code: 'skill_unavailable' } }, jails: 1 });
    expect(first.outcome.ok ? '' : first.outcome.error.message).toContain(
      'cannot open a jail here: bwrap: No',
    );
    expect(existsSync(remembered)).toBe(false);
    // The next one finds out before a call.
    expect(await jailOpens()).toBe(false);
    expect(existsSync(remembered)).toBe(false);

    rmSync(folder.at('closed'));
    expect(await call(true)).toMatchObject({ outcome: { ok: true }, jails: 2 });
    expect(existsSync(remembered)).toBe(true);
  });
});
