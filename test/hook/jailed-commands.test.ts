/**
 * Runs the commands of the table and generated ones in a jail, before and after the hook rewrote them.
 */
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeCommand } from '../../src/hook/answer.ts';
import type { Verdict } from '../../src/hook/findings.ts';
import { commandArbitrary } from './grammar.ts';
import { isLeak, makeFixture, runAll, type Start } from './jail.ts';
import { rowsFor } from './rows.ts';

const fixture = makeFixture();
afterAll(() => rmSync(fixture.root, { recursive: true, force: true }));
const GENERATED = 400;
const DEADLINE = 900_000;

function judge(command: string, cwd: string = fixture.project): Verdict {
  return judgeCommand(command, cwd, {
    home: fixture.home,
    // The shell sets the last two itself.
    env: { HOME: fixture.home, OLDPWD: fixture.home, _: '/usr/bin/npx' },
    program: 'skillcell',
  });
}

/** What runs if the agent follows the hook. */
function outcomeOf(command: string): string | undefined {
  const verdict = judge(command);
  if (verdict.kind === 'rewrite') return verdict.command;
  return verdict.kind === 'deny' ? undefined : command;
}

const leaksOf = (starts: readonly Start[]): Start[] => starts.filter((start) => isLeak(start, fixture));

/** The commands that Skillcell was asked to run, and those that ran scripts of skills without it. */
function argvsOf(starts: readonly Start[]): string[] {
  const given = starts
    .filter(({ by }) => by === 'skillcell')
    .map(({ argv }) => argv.slice(argv.indexOf('--') + 1));
  const direct = leaksOf(starts.filter(({ by }) => by !== 'input')).map(({ argv }) => argv);
  return [...given, ...direct]
    .map(([program = '', ...args]) => JSON.stringify([basename(program), ...args]))
    .toSorted();
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  const left = [...all];
  return some.every((text) => left.includes(text) && left.splice(left.indexOf(text), 1).length === 1);
}

/** Runs commands as they are and as the hook changes them. */
async function compare(
  commands: readonly string[],
): Promise<{ command: string; after: string; before: Start[]; starts: Start[] }[]> {
  const kept = commands.flatMap((command) => {
    const after = outcomeOf(command);
    return after === undefined ? [] : [{ command, after }];
  });
  const runs = kept
    .flatMap(({ command, after }) => [command, after])
    .map((command) => ({ command, cwd: fixture.project }));
  const starts = await runAll(fixture, runs);
  return kept.map(({ command, after }, at) => {
    const [before = [], now = []] = starts.slice(2 * at);
    return { command, after, before, starts: now };
  });
}

describe('the table of commands', () => {
  const rows = rowsFor(fixture.project);

  test('has many rows of every kind', () => {
    expect(rows.length).toBeGreaterThan(500);
  });

  test.each(rows)('the hook answers $expected to $command', ({ command, expected }) => {
    expect(judge(command).kind).toBe(expected);
  });

  test('no script of a skill runs outside Skillcell after the hook', { timeout: DEADLINE }, async () => {
    const results = await compare(rows.map(({ command }) => command));
    const leaks = results.filter(({ starts }) => leaksOf(starts).length > 0);
    expect(leaks.map(({ command, after, starts }) => ({ command, after, leaks: leaksOf(starts) }))).toEqual(
      [],
    );
  });

  test(
    'Skillcell gets the arguments that the interpreter would have got',
    { timeout: DEADLINE },
    async () => {
      const rewritten = rows.filter(({ expected }) => expected === 'rewrite').map(({ command }) => command);
      // Real interpreters record only the arguments of the script, and `uv run` starts Python itself.
      const results = await compare(rewritten.filter((command) => !/^\/(?:usr\/)?bin\//.test(command)));
      const differing = results.filter(
        ({ before, starts }) => argvsOf(before).join('\n') !== argvsOf(starts).join('\n'),
      );
      expect(
        differing.map(({ command, after, before, starts }) => ({
          command,
          after,
          before: argvsOf(before),
          now: argvsOf(starts),
        })),
      ).toEqual([]);
      expect(
        results.filter(({ before }) => leaksOf(before).length === 0).map(({ command }) => command),
      ).toEqual([]);
    },
  );

  test(
    'the denied commands are dangerous: most run a script of a skill without the hook',
    { timeout: DEADLINE },
    async () => {
      const denied = rows.filter(({ expected }) => expected === 'deny').map(({ command }) => command);
      const starts = await runAll(
        fixture,
        denied.map((command) => ({ command, cwd: fixture.project })),
      );
      expect(starts.filter((list) => leaksOf(list).length > 0).length).toBeGreaterThan(denied.length / 2);
    },
  );
});

describe('generated commands', () => {
  test(
    'run no script of a skill outside Skillcell, with the same arguments',
    { timeout: DEADLINE },
    async () => {
      const seed = Number(process.env['HOOK_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));
      const commands = fc.sample(commandArbitrary(fixture.project), { numRuns: GENERATED, seed });
      const results = await compare(commands);
      const leaks = results.filter(({ starts }) => leaksOf(starts).length > 0);
      expect({ seed, leaks: leaks.map(({ command, after }) => ({ command, after })) }).toEqual({
        seed,
        leaks: [],
      });
      // A real shell records only the arguments of the script, and work in the background may end too early.
      const comparable = results.filter(({ command }) => !/\/bin\/|&/.test(command.replaceAll(/&&|>&/g, '')));
      const missing = comparable.filter(({ before, starts }) => !isWithin(argvsOf(before), argvsOf(starts)));
      expect({
        seed,
        missing: missing.map(({ command, after, before, starts }) => ({
          command,
          after,
          before: argvsOf(before),
          now: argvsOf(starts),
        })),
      }).toEqual({ seed, missing: [] });
      // The generator is worth something only if it reaches both ends.
      expect(results.filter(({ before }) => leaksOf(before).length > 0).length).toBeGreaterThan(
        GENERATED / 20,
      );
      expect(results.length).toBeLessThan(commands.length);
    },
  );
});
