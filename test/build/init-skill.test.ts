import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill, initSkill, LANGUAGES } from '../../src/inside.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { openCommandLine, type CommandLine } from '../cli/command.ts';

interface Case {
  params: object;
  result: object;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
let opened: TestRuntime;

beforeAll(() => {
  opened = openTestRuntime({ audit: false });
});

afterAll(() => opened.close());

describe.each(LANGUAGES)('the template for %s', (language) => {
  test('creates a working skill', async () => {
    const { dir, files } = initSkill(`demo/try_${language}`, { language, cwd: opened.folder });
    expect(dir).toBe(join(opened.folder, 'skills/demo', `try_${language}`));
    expect(files).toContain('README.md');
    if (language !== 'python' && language !== 'typescript') buildSkill(dir);
    const skill = await opened.runtime.load(dir);
    expect(skill.bundle.manifest.name).toBe(`demo/try_${language}`);
    const cases = JSON.parse(readFileSync(join(dir, 'cases.json'), 'utf8')) as Case[];
    for (const { params, result } of cases) {
      expect((await opened.runtime.execute(skill, params)).result).toEqual(result);
    }
    expect(cases.length).toBeGreaterThan(0);
  });

  test('leaves no placeholder unfilled', () => {
    const { dir, files } = initSkill('demo/filled', { language, cwd: join(opened.folder, language) });
    const unfilled = files.filter((file) => readFileSync(join(dir, file), 'utf8').includes('{{name}}'));
    expect(unfilled).toEqual([]);
  });
});

describe('skillcell init', () => {
  test('overwrites nothing', () => {
    const dir = join(opened.folder, 'mine');
    initSkill('demo/mine', { language: 'c', dir });
    writeFileSync(join(dir, 'README.md'), 'my own words');
    expect(() => initSkill('demo/mine', { language: 'rust', dir })).toThrow('exists and is not empty');
    expect(readFileSync(join(dir, 'README.md'), 'utf8')).toBe('my own words');
  });

  test.each(['plain', 'a/b/c', '../out/side', 'Demo/Upper', '/etc/skill', 'a/', ''])(
    'refuses the name "%s"',
    (name) => {
      expect(() => initSkill(name, { language: 'c', cwd: opened.folder })).toThrow(
        'is not a valid skill name',
      );
    },
  );

  test('refuses an unknown language, and the name of a package folder', () => {
    for (const language of ['cobol', '..', 'constructor']) {
      expect(() => initSkill('demo/x', { language, cwd: opened.folder })).toThrow('There is no template for');
    }
    expect(existsSync(join(opened.folder, 'skills/demo/x'))).toBe(false);
  });
});

describe('skillcell init --from', () => {
  /** Runs each command as printed. */
  async function follow(line: CommandLine, next: readonly string[]): Promise<string[]> {
    const answers: string[] = [];
    for (const command of next) {
      const [, ...args] = command.match(/'[^']*'|\S+/g) ?? [];
      const ended = await line.run(
        args.map((arg) => arg.replaceAll("'", '')),
        { cwd: line.folder },
      );
      expect([command, ended.code, ended.stderr]).toEqual([command, 0, expect.any(String)]);
      answers.push(ended.stdout);
    }
    return answers;
  }

  const SCRIPTS: [string, { file: string; source: string; result: object }][] = [
    [
      'a function',
      {
        file: 'greet.py',
        source:
          '# Greets a person.\ndef execute(params):\n    return {"said": "Hi " + params["name"] + params.get("end", "")}\n',
        result: { said: 'Hi Hello' },
      },
    ],
    [
      'a program',
      {
        file: 'report.py',
        source: 'import sys\nprint("args", sys.argv[1:], repr(sys.stdin.read()))\nsys.exit(3)\n',
        result: { exit_code: 3, stdout: "args [] ''\n" },
      },
    ],
    [
      'a module',
      {
        file: 'count.ts',
        source:
          'export function execute(params: { text: string }) {\n  return { length: params.text.length };\n}\n',
        result: { length: 5 },
      },
    ],
  ];

  test.each(SCRIPTS)(
    'makes a skill of %s, and each printed command works',
    async (_, { file, source, result }) => {
      const line = openCommandLine();
      try {
        writeFileSync(join(line.folder, file), source);
        const { code, stdout } = await line.run(['init', 'my/own', '--from', file], { cwd: line.folder });
        expect(code).toBe(0);
        const next = stdout.split('\n').filter((text) => text.startsWith('  skillcell'));
        expect(next.map((text) => text.trim().split(' ')[1])).toEqual(['run', 'test', 'inspect', 'lock']);
        const [ran] = await follow(
          line,
          next.map((text) => text.trim()),
        );
        expect(JSON.parse(ran ?? '')).toEqual(result);
      } finally {
        line.close();
      }
    },
  );

  test('writes the manifest beside an existing skill.py and changes nothing else', () => {
    const dir = join(opened.folder, 'skills/my/old');
    mkdirSync(dir, { recursive: true });
    const source = 'def execute(params):\n    return {}\n';
    writeFileSync(join(dir, 'skill.py'), source);
    writeFileSync(join(dir, 'cases.json'), '[]');
    const from = (name: string): string[] =>
      initSkill(name, { from: 'skills/my/old/skill.py', cwd: opened.folder }).files;
    expect(() => from('my/other')).toThrow('belongs to the id "my/old"');
    expect(from('my/old')).toEqual(['instructions.md', 'manifest.yaml']);
    expect(readFileSync(join(dir, 'skill.py'), 'utf8')).toBe(source);
    expect(readFileSync(join(dir, 'cases.json'), 'utf8')).toBe('[]');
    expect(() => from('my/old')).toThrow('already has a manifest.yaml');
  });

  test.each([
    ['missing.py', 'is not a script that can become a skill'],
    ['.', 'is not a script that can become a skill'],
    ['plain.sh', 'is not a script that can become a skill'],
    ['none.ts', 'has no function "execute"'],
    ['bare/skill.py', 'has no function "execute"'],
  ])('refuses %s and writes nothing', (file, message) => {
    const cwd = join(opened.folder, 'scripts');
    mkdirSync(join(cwd, 'bare'), { recursive: true });
    for (const one of ['plain.sh', 'none.ts', 'bare/skill.py']) writeFileSync(join(cwd, one), 'print(1)\n');
    expect(() => initSkill('my/refused', { from: file, cwd })).toThrow(message);
    expect(existsSync(join(cwd, 'skills'))).toBe(false);
    expect(existsSync(join(cwd, 'bare/manifest.yaml'))).toBe(false);
  });

  test('needs a language or a script, and not both', () => {
    expect(() => initSkill('my/none', { cwd: opened.folder })).toThrow('Pass a language or a script');
    const both = { language: 'c', from: 'x.py', cwd: opened.folder };
    expect(() => initSkill('my/both', both)).toThrow('not both');
  });
});

test.each(['skillcell.h', 'skillcell.rs'])('every copy of %s is the same', (name) => {
  const copies = globSync(`{templates,skills}/**/${name}`, { cwd: ROOT });
  expect(copies.length).toBeGreaterThan(1);
  expect(new Set(copies.map((file) => readFileSync(join(ROOT, file), 'utf8'))).size).toBe(1);
});
