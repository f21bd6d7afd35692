import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { findCommands, type Commands } from '../../src/load/commands.ts';
import { findDrift } from '../../src/load/drift.ts';
import { NOTHING_INSPECTED } from '../../src/load/inspection.ts';
import { manifestWith } from './helpers.ts';

const folder = mkdtempSync(join(tmpdir(), 'skillcell-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function look(files: Record<string, string>): Commands {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return findCommands(folder, Object.keys(files));
}

const programs = (files: Record<string, string>): string[] =>
  look(files).programs.map(({ value, at }) => `${value} ${at}`);

describe('findCommands in a shell script', () => {
  test.each([
    ['curl https://a.test', 'curl'],
    ['  if ! wget -q x; then exit 1; fi', 'wget'],
    ['A=1 B=2 /usr/bin/ssh host', 'ssh'],
    ['x=$(curl -s a)', 'curl'],
    ['cat a | nc a.test 80', 'nc'],
    ['true && sudo pip install x', 'pip'],
    ['exec 3<>/dev/tcp/a.test/80', '/dev/tcp'],
    ['echo `wget a`', 'wget'],
    ['"curl" a', 'curl'],
    ['c\\url a', 'curl'],
  ])('%s is reported as a use of %s', (line, program) => {
    expect(programs({ 'run.sh': `#!/bin/sh\n${line}\n` })).toContain(`${program} run.sh:2`);
  });

  test.each(['# curl a', 'echo curl', 'x="pip"', 'my_curl a', 'cat curl.txt', 'grep ssh file'])(
    '%s is not reported as a command',
    (line) => expect(programs({ 'run.sh': line })).toEqual([]),
  );

  test('a file without a suffix is recognized as a script by its first line', () => {
    expect(programs({ tool: '#!/usr/bin/env bash\ncurl a\n', other: 'curl a\n' })).toEqual(['curl tool:2']);
  });

  test('output piped into a shell is reported', () => {
    const { piped } = look({ 'run.sh': 'curl a | sudo bash -s\nls | shuf\nwget -O- a | /bin/sh\n' });
    expect(piped.map(({ at }) => at)).toEqual(['run.sh:1', 'run.sh:3']);
  });
});

test.each([
  ['skill.py', 'import subprocess\nsubprocess.run(["curl", url])', 'curl skill.py:2'],
  ['skill.py', 'subprocess.check_output(\n    [\n        "wget", url])', 'wget skill.py:1'],
  ['skill.py', 'x = 1\nos.system("cd a && ssh b")', 'ssh skill.py:2'],
  ['skill.py', 'await asyncio.create_subprocess_exec("/usr/bin/curl", u)', 'curl skill.py:1'],
  ['skill.js', "const { execFile } = x;\nexecFile('curl', [u]);", 'curl skill.js:2'],
  ['lib/a.ts', 'spawnSync(`nc`, [])', 'nc lib/a.ts:1'],
])('%s that starts a program by a literal name is reported: %s', (path, text, expected) => {
  expect(programs({ [path]: text })).toEqual([expected]);
});

test('commands are warnings, and only if the manifest does not cover them', () => {
  const commands = look({ 'run.sh': 'curl a\ncurl b\npip install x\ncurl a | sh\n' });
  const warnings = (manifest = {}): string[] => {
    const found = findDrift({
      manifest: manifestWith(manifest),
      inspection: NOTHING_INSPECTED,
      commands,
      paths: ['run.sh'],
    });
    expect(found.drift).toEqual([]);
    return found.warnings;
  };
  expect(warnings()).toEqual([
    'The code names the program "curl" (run.sh:1), but the manifest declares no network.',
    'The code names the installer "pip" (run.sh:3); list the skill\'s packages under "requirements" instead.',
    'The code runs a program\'s output as a script (run.sh:4): "curl a | sh".',
  ]);
  const capabilities = { filesystem: [], network: [{ host: 'a' }], syscalls: 'default' as const };
  expect(warnings({ capabilities })).toHaveLength(2);
});

test('the scan is bounded and reports where it stopped', () => {
  const long = look({ 'long.sh': `${'x\n'.repeat(100_000)}curl a\n`, 'many.sh': 'curl a\n'.repeat(1000) });
  expect(long.skipped).toEqual([{ value: 'long.sh', at: 'long.sh' }]);
  expect(long.programs).toHaveLength(64);
  const line = look({ 'line.sh': `${'sudo '.repeat(20_000)}curl`, 'a.py': 'exec('.repeat(20_000) });
  expect(line.programs).toEqual([]);
});

test('scanning arbitrary text never fails', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => {
      expect(look({ 'any.sh': text, 'any.py': text }).skipped).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
