/**
 * Whether a script waits for the standard input of the agent: only if a pipe or a redirection of the command feeds it.
 */
import { rmSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { judgeCommand } from '../../src/hook/answer.ts';
import { makeFixture } from './jail.ts';

const fixture = makeFixture();
afterAll(() => rmSync(fixture.root, { recursive: true, force: true }));

/** For each script that is run, in the order of the text: whether it reads the standard input. */
function readsInput(command: string): boolean[] {
  const text = command.replaceAll('S', 'python .claude/skills/pdf/scripts/a.py');
  const options = { home: fixture.home, env: {}, program: 'skillcell' };
  const verdict = judgeCommand(text, fixture.project, options);
  if (verdict.kind !== 'rewrite') throw new Error(`${verdict.kind}: ${command}`);
  return [...verdict.command.matchAll(/skillcell exec (.*?)-- /gs)].map(
    ([, given = '']) => !given.includes('--no-stdin'),
  );
}

test.each([
  ['S a', [false]],
  ['S a | head -3', [false]],
  ['S a > out 2>&1', [false]],
  ['ls; S a && S b || S c', [false, false, false]],
  ['cat data.csv | S', [true]],
  ['cat data.csv |& S | S', [true, true]],
  ['cat data.csv | S; S', [true, false]],
  ['S < data.csv', [true]],
  ['S <<< text', [true]],
  ['S <<END\ntext\nEND\n', [true]],
  ['timeout 5 S < data.csv', [true]],
  ['cat data.csv | timeout 5 S', [true]],
  ['( S; S )', [false, false]],
  ['cat data.csv | ( S )', [true]],
  ['{ S; } < data.csv', [true]],
  ['( ( S ) ) < data.csv; S', [true, false]],
  ['if true; then S; fi < data.csv', [true]],
  ['for f in a b; do S "$f"; done', [false]],
  ['while read -r f; do S "$f"; done < data.csv', [false]],
  ['cat data.csv | while read -r f; do S "$f"; done', [false]],
  ['while read -r f; do echo "$f" | S; done < data.csv', [true]],
  ['echo "$(S)"', [false]],
  ['x=$(cat data.csv | S); echo "$x"', [true]],
  ['cat data.csv | echo "$(S)"', [true]],
  ["bash -c 'S a'", [false]],
  ["cat data.csv | bash -c 'S a'", [true]],
  ['exec < data.csv; S', [true]],
])('%s', (command, expected) => {
  expect(readsInput(command)).toEqual(expected);
});
