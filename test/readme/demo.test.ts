/**
 * The animated picture in the README matches the current output of the command line, apart from ids, times and hashes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { terminalSvg, textOf } from '../../scripts/documents/terminal-svg.ts';
import { COMMANDS, DEMO_FILE, recordDemo } from '../../scripts/record-demo.ts';
import { readDocument, ROOT } from './documents.ts';
import { normalise } from './output.ts';

const MS_FOR_ALL = 120_000;

test(
  'docs/demo.svg shows what the commands print (otherwise run scripts/record-demo.ts)',
  () => {
    const printed = recordDemo().map(({ command, output }) => `$ ${command}\n${output.trimEnd()}`);
    const shown = textOf(readFileSync(join(ROOT, DEMO_FILE), 'utf8'));
    expect(normalise(shown)).toBe(normalise(printed.join('\n')));
  },
  MS_FOR_ALL,
);

test('the README shows the picture, and its first two commands are those in the picture', () => {
  const readme = readDocument('README.md');
  expect(readme).toContain(`(${DEMO_FILE})`);
  for (const command of COMMANDS.slice(0, 2)) expect(readme).toContain(command);
});

test.each([
  ['a line that is too long', 'x'.repeat(300)],
  ['markup', '<script>alert(1)</script> & "more"'],
  ['an empty line', 'a\n\nb'],
])('a picture keeps %s as text', (_what, output) => {
  const svg = terminalSvg([{ command: 'echo', output }], 'a < b');
  expect(textOf(svg)).toBe(`$ echo\n${output}`);
  expect(svg).not.toContain('<script');
});
