/**
 * The man page, which is generated from the tree of commands.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatManPage, MAN_PAGE } from '../../scripts/man-page.ts';
import { createProgram } from '../../src/cli/program.ts';

test('the man page is up to date (node scripts/with-node.js scripts/man-page.ts)', () => {
  expect(readFileSync(MAN_PAGE, 'utf8')).toBe(formatManPage());
});

test('the man page has a section for every command and hides internal ones', () => {
  const page = formatManPage();
  for (const command of createProgram(() => undefined).commands)
    expect(page.includes(`.SS ${command.name()}`), command.name()).toBe(!command.name().startsWith('__'));
});

test('groff formats the page without a warning, where it is installed', () => {
  const ended = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', MAN_PAGE], { encoding: 'utf8' });
  if (!ended.error) expect(ended).toMatchObject({ status: 0, stderr: '' });
});
