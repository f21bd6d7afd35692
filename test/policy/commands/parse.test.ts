import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCommand, type CommandContext } from '../../../src/policy/commands/parse.ts';
import { sha256 } from '../../../src/load/digest.ts';
import { thrownBy } from '../../thrown.ts';
import { words } from '../../words.ts';

const FILES = {
  'SKILL.md': '0',
  'scripts/x.py': '1',
  'scripts/x.sh': '2',
  'scripts/x.js': '3',
  'scripts/tool': '4',
  'pkg/__main__.py': '5',
};
const HEADS: Record<string, string> = {
  'scripts/tool': '#!/usr/bin/env python3\nprint()\n',
  'scripts/x.sh': '#!/bin/bash -eu\n',
  'scripts/x.js': '#!/usr/bin/env deno\n',
};

function context(over: Partial<CommandContext> = {}): CommandContext {
  return {
    files: FILES,
    skillDirs: ['/home/me/project/.claude/skills/pdf'],
    workspaceDirs: ['/home/me/project'],
    headOf: (path) => HEADS[path] ?? '',
    allowsGenerated: true,
    ...over,
  };
}

const parse = (
  words: readonly string[],
  over: Partial<CommandContext> = {},
): ReturnType<typeof parseCommand> =>
  parseCommand({ words, stdinDigest: sha256('the source') }, context(over));
const refusal = (words: readonly string[], over: Partial<CommandContext> = {}): string =>
  (thrownBy(() => parse(words, over)) as { code?: string }).code ?? '';

describe('a command', () => {
  it.each([
    [['python', 'scripts/x.py', 'a', '--b'], { run: 'file', path: '/skill/scripts/x.py' }, ['a', '--b']],
    [['/usr/bin/python3', './scripts/../scripts/x.py'], { run: 'file', path: '/skill/scripts/x.py' }, []],
    [
      ['/usr/bin/env', 'python3', '-u', '/skill/scripts/x.py'],
      { run: 'file', path: '/skill/scripts/x.py' },
      [],
    ],
    [
      ['python', '/home/me/project/.claude/skills/pdf/scripts/x.py'],
      { run: 'file', path: '/skill/scripts/x.py' },
      [],
    ],
    [['python', '.claude/skills/pdf/scripts/x.py'], { run: 'file', path: '/skill/scripts/x.py' }, []],
    [['node', 'scripts/x.js', '-e'], { run: 'file', path: '/skill/scripts/x.js' }, ['-e']],
    [
      ['bash', '-eu', 'scripts/x.sh', 'a'],
      { run: 'program', path: '/usr/bin/bash' },
      ['-eu', '/skill/scripts/x.sh', 'a'],
    ],
    [['./scripts/x.sh', 'a'], { run: 'program', path: '/usr/bin/bash' }, ['-eu', '/skill/scripts/x.sh', 'a']],
    [['scripts/tool', 'a'], { run: 'file', path: '/skill/scripts/tool' }, ['a']],
    [['python', '-m', 'pkg', 'a'], { run: 'module', name: 'pkg' }, ['a']],
  ])('runs %j from the bundle', (words, start, args) => {
    expect(parse(words)).toMatchObject({ origin: 'bundle', start, args });
  });

  it('of a module that is not in the bundle is one of its packages', () => {
    expect(parse(['python', '-m', 'markitdown', 'x.pptx'])).toMatchObject({
      origin: 'package',
      start: { run: 'module', name: 'markitdown' },
    });
  });

  it.each(['json.tool', 'http.server', 'os', 'code', 'timeit'])(
    'of the module %s is refused even if the skill has such a file: Python would find its own',
    (name) => {
      const file = `${name.replaceAll('.', '/')}.py`;
      expect(refusal(['python', '-m', name], { files: { [file]: '1' } })).toBe('invalid_params');
      expect(parse(['python', file], { files: { [file]: '1' } })).toMatchObject({ origin: 'bundle' });
    },
  );

  it('with code of the caller has the digest of that code', () => {
    expect(parse(['python', '-', 'a'])).toMatchObject({
      origin: 'generated',
      start: { run: 'source', name: '<stdin>' },
      digest: sha256('the source'),
    });
    expect(parse(['python', '-c', 'print(1)', 'a'])).toMatchObject({
      origin: 'generated',
      start: { run: 'source', name: '<string>', source: 'print(1)' },
      args: ['a'],
      digest: sha256('print(1)'),
    });
  });

  it('runs a Python file of the workspace as code of the caller', () => {
    const start = { run: 'workspace_file', path: '/workspace/tmp/own.py' };
    for (const word of ['tmp/own.py', '/workspace/tmp/own.py', '/home/me/project/tmp/own.py'])
      expect(parse(['python', word])).toMatchObject({ origin: 'generated', start });
  });

  it('with code of the caller is refused where the operator switches it off', () => {
    for (const words of [
      ['python', '-'],
      ['python', '-c', '1'],
      ['python', 'own.py'],
    ])
      expect(refusal(words, { allowsGenerated: false })).toBe('capability_denied');
    expect(parse(['python', 'scripts/x.py'], { allowsGenerated: false }).origin).toBe('bundle');
  });

  it.each([
    [['bash', '-c', 'id']],
    [['sh']],
    [['bash', '-']],
    [['python']],
    [['python3', '-u']],
    [['node']],
    [['node', '-']],
  ])('never gets a free shell: %j', (words) => {
    expect(refusal(words)).toBe('capability_denied');
  });

  it.each([
    [['node', '-e', '1']],
    [['node', '--import', 'x', 'scripts/x.js']],
    [['node', 'own.js']],
    [['bash', 'own.sh']],
    [['bash', '--rcfile', 'x']],
    [['bash', '-o', 'x', 'scripts/x.sh']],
    [['python', '-X', 'frozen', 'scripts/x.py']],
    [['python', '-m', '../x']],
    [['python', '-m', 'os;id']],
    [['python', '../../etc/x.py']],
    [['python', '/etc/x.py']],
    [['python', '/skill/../etc/x.py']],
    [['python', '/home/me/project2/x.py']],
    [['python', 'scripts/x.py\0.py']],
    [['python', 'scripts']],
    [['env', 'A=1', 'python', 'scripts/x.py']],
    [['env', '-S', 'python scripts/x.py']],
    [['./scripts/x.js']],
    [['./scripts/x.py']],
    [['./nothing']],
    [['../bash', '-c', 'id']],
    [['/tmp/bin/bash', '-c', 'id']],
    [['']],
    [['a b']],
    [['x'.repeat(65)]],
    [['python', 'scripts/x.py', '\ud800']],
    [['python', 'scripts/x.py', 'a'.repeat(128 * 1024)]],
    [['python', 'scripts/x.py', ...Array.from({ length: 300 }, () => 'a')]],
    [[]],
  ])('that means nothing of the skill is refused', (words) => {
    expect(refusal(words)).toBe('invalid_params');
  });

  it('without a workspace finds no file there', () => {
    expect(refusal(['python', 'own.py'], { workspaceDirs: [] })).toBe('invalid_params');
  });

  it('of any other name is a program that the grant has to name', () => {
    for (const word of ['pdftoppm', '/usr/bin/pdftoppm'])
      expect(parse([word, '-r', '1'])).toMatchObject({
        origin: 'system',
        start: { run: 'system', name: 'pdftoppm' },
      });
  });
});

describe('whatever the words, a command', () => {
  const nasty = fc.constantFrom(
    ...[...words('python bash sh node env - -c -m -e .. . / // /skill ~'), '\0'],
    ...[
      '/skill/scripts/x.py',
      'scripts/x.py',
      '../scripts/x.py',
      '/workspace',
      '/proc/self/root/skill/scripts/x.py',
    ],
  );
  const word = fc.oneof(
    nasty,
    fc.string({ unit: 'binary' }),
    fc.array(nasty).map((parts) => parts.join('/')),
  );

  it('starts only verified files, files below the workspace, code with a digest, and plain names', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        let parsed: ReturnType<typeof parse>;
        try {
          parsed = parse(words);
        } catch (error) {
          expect(['invalid_params', 'capability_denied']).toContain((error as { code: string }).code);
          return;
        }
        const { start, args, origin, digest } = parsed;
        const isOwn = (path: string): boolean => Object.hasOwn(FILES, path.replace('/skill/', ''));
        if (start.run === 'file') expect(isOwn(start.path)).toBe(true);
        if (start.run === 'program') expect(isOwn(args.find((arg) => !arg.startsWith('-')) ?? '')).toBe(true);
        if (start.run === 'workspace_file')
          expect(start.path).toMatch(/^\/workspace\/(?!.*(?:^|\/)\.\.(?:\/|$)).*\.py$/s);
        if (start.run === 'source') expect([origin, digest?.length]).toEqual(['generated', 64]);
        if (start.run === 'system') expect(start.name).toMatch(/^[\w][\w.+-]*$/);
        expect([...args].join('')).not.toContain('\0');
      }),
      { numRuns: 5000 },
    );
  });
});
