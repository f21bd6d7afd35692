/**
 * Whatever a manifest contains, the description of it compiles, and the words of its author are comments and nothing else:
 * the compilers see the same program without them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { packageRoot } from '../../../src/package-root.ts';
import { typingsOf } from '../../../src/tools/typings/typings.ts';
import { openTestRuntime } from '../../cell/test-runtime.ts';
import { writeSkill } from '../../write-skill.ts';
import { hostileCallables, silenced } from './hostile.ts';

const CASES = 60;
const seed = Date.now() % 2 ** 31;
const cases = fc.sample(hostileCallables, { numRuns: CASES, seed });
const { runtime, folder, close } = openTestRuntime({ audit: false });
const work = mkdtempSync(join(tmpdir(), 'skillcell-typings-'));
afterAll(async () => {
  await close();
  rmSync(work, { recursive: true });
});

/** What the compiler makes of each text without its comments. */
function declarationsOf(texts: readonly string[], name: string): string[] {
  const source = join(work, name);
  mkdirSync(source);
  texts.forEach((text, at) => writeFileSync(join(source, `case${at}.ts`), `${text}\nexport { skills };\n`));
  const options = {
    target: 'esnext',
    module: 'esnext',
    strict: true,
    types: [],
    declaration: true,
    emitDeclarationOnly: true,
    removeComments: true,
    outDir: 'out',
    rootDir: '.',
  };
  writeFileSync(
    join(source, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.ts'] }),
  );
  const tsc = join(packageRoot(), 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', source], {
    encoding: 'utf8',
    cwd: source,
  });
  expect(stdout, `seed ${seed}`).toBe('');
  expect(status).toBe(0);
  return texts.map((_, at) => readFileSync(join(source, 'out', `case${at}.d.ts`), 'utf8'));
}

test('TypeScript declarations of hostile manifests compile, and their words are only comments', () => {
  const hostile = declarationsOf(
    cases.map((callables) => typingsOf('typescript', callables)),
    'hostile',
  );
  const silent = declarationsOf(
    cases.map((callables) => typingsOf('typescript', silenced(callables))),
    'silent',
  );
  expect(hostile.join('').length).toBeGreaterThan(CASES * 50);
  for (const [at, text] of hostile.entries()) expect(text, `seed ${seed}, case ${at}`).toBe(silent[at]);
});

/** Runs each text in the sandbox, and dumps its syntax tree without the texts of documentation. */
const COMPILE = `
  import ast

  def dump(text):
      tree = ast.parse(text)
      exec(compile(tree, "stub", "exec"), {"__name__": "stub"})
      for node in ast.walk(tree):
          if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
              node.body = node.body[1:]
      return ast.dump(tree)

  def execute(params):
      dumps = []
      for at, text in enumerate(params["texts"]):
          try:
              dumps.append(dump(text))
          except Exception as error:
              dumps.append(f"case {at}: {error!r}\\n{text}")
      return {"dumps": dumps}
`;

test('Python stubs of hostile manifests compile and run, and their words are only documentation', async () => {
  const skill = await runtime.load(
    writeSkill(folder, {
      source: COMPILE,
      manifest: { execution: ['wasm'], limits: { output: '32MiB', memory: '512MiB', timeout: '60s' } },
    }),
  );
  const dump = async (texts: string[]): Promise<string[]> => {
    const outcome = await runtime.execute(skill, { texts }, { reject: true });
    return (outcome.result as { dumps: string[] }).dumps;
  };
  for (let from = 0; from < CASES; from += 30) {
    const some = cases.slice(from, from + 30);
    const hostile = await dump(some.map((callables) => typingsOf('python', callables)));
    const silent = await dump(some.map((callables) => typingsOf('python', silenced(callables))));
    for (const [at, text] of hostile.entries()) {
      expect(text, `seed ${seed}, case ${from + at}`).toMatch(/^Module/);
      expect(text, `seed ${seed}, case ${from + at}`).toBe(silent[at]);
    }
  }
});
