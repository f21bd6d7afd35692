import { expect, it } from 'vitest';
import { kindOf } from '../../src/load/entry.ts';
import { findScripts } from '../../src/load/scripts.ts';
import type { Kind } from '../../src/vocabulary/kinds.ts';

function scriptsIn(files: Record<string, string>): string[] {
  return findScripts(contentsOf(files)).map(({ path, language, runs }) =>
    [path, language, ...(runs ? [] : ['library'])].join(' '),
  );
}

function contentsOf(files: Record<string, string>): Map<string, Buffer> {
  return new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
}

function kind(files: Record<string, string>): Kind {
  return kindOf({}, files, findScripts(contentsOf(files)));
}

it.each([
  ['scripts/a.py', 'if __name__ == "__main__": pass', 'python'],
  ['scripts/a.py', 'def f(): pass', 'python library'],
  ['scripts/a.py', 'import sys\nprint(sys.argv[1])', 'python'],
  ['scripts/a.sh', 'ls', 'shell'],
  ['a.mjs', 'console.log(process.argv)', 'node'],
  ['lib/a.ts', 'export const a = 1', 'node library'],
  ['bin/tool', '#!/usr/bin/env python3\n', 'python'],
  ['bin/tool', '#!/usr/bin/env -S python3.12 -u\n', 'python'],
  ['bin/tool', '#! /bin/bash -e\n', 'shell'],
  ['bin/tool', '#!/usr/bin/env node\n', 'node'],
  ['tool.rb', '#!/usr/bin/env ruby\n', 'other'],
  ['assets/setup', '#!/bin/sh\n', 'shell'],
])('%s with the text %j is a script: %s', (path, text, expected) => {
  expect(scriptsIn({ [path]: text })).toEqual([`${path} ${expected}`]);
});

it.each([
  ['references/a.md', '#!/bin/sh is a first line'],
  ['notes', 'no script'],
  ['a.rs', '#![allow(dead_code)]'],
  ['scripts/test_a.py', '__main__'],
  ['tests/run.sh', 'ls'],
  ['src/a.test.ts', ''],
  ['node_modules/a/index.js', ''],
  ['types/a.d.ts', ''],
  ['assets/template.js', 'process.argv'],
])('%s with the text %j is not a script', (path, text) => {
  const found = scriptsIn({ [path]: text.startsWith('#!/bin') ? ` ${text}` : text });
  expect(found).toEqual([]);
});

it.each<[Kind, Record<string, string>]>([
  ['instructions', { 'SKILL.md': '' }],
  ['instructions', { 'SKILL.md': '', 'tests/test_a.py': '', 'references/a.md': '' }],
  ['script', { 'SKILL.md': '', 'scripts/a.py': '' }],
  ['script', { 'SKILL.md': '', 'bin/tool': '#!/bin/sh\n' }],
  ['function', { 'SKILL.md': '', 'skill.py': '' }],
  ['function', { 'manifest.yaml': '', 'run.sh': '' }],
])('the kind is %s for the files %j', (expected, files) => {
  expect(kind(files)).toBe(expected);
});
