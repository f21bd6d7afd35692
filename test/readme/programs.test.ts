/**
 * Type-checks the programs in the documents and the examples in comments of the source.
 */
import { entryPoints } from '../../scripts/documents/api-tables.ts';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blocksOf, DOCUMENTS, readDocument, ROOT } from './documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'skillcell-programs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runtime types that the source relies on. */
const GLOBALS = join(ROOT, 'guest/wasm/webassembly.d.ts');

interface Program {
  from: string;
  text: string;
}

function programsOf(file: string, markdown: string): Program[] {
  const programs = blocksOf(markdown).filter(
    ({ language, marks }) => language === 'ts' && !marks.includes('no-run'),
  );
  return programs.map(({ text, line }) => ({ from: `${file}:${line}`, text }));
}

/** The fenced block after `@example` in a comment. */
function examplesIn(file: string): Program[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const comments = [...source.matchAll(/\/\*\*.*?\*\//gs)].filter(([comment]) =>
    comment.includes('@example'),
  );
  return comments.flatMap(([comment]) => programsOf(file, comment.replaceAll(/^ *\* ?/gm, '')));
}

const documented = DOCUMENTS.flatMap((file) => programsOf(file, readDocument(file)));
const commented = globSync('src/**/*.ts', { cwd: ROOT }).flatMap(examplesIn);

test('the documents have programs, and the source has examples', () => {
  expect(documented.length).toBeGreaterThan(3);
  expect(commented.length).toBeGreaterThan(3);
});

test('all programs and examples compile', () => {
  const names = new Map([...documented, ...commented].map((program, at) => [`program${at}.ts`, program]));
  for (const [name, { text }] of names) writeFileSync(join(folder, name), `${text}\nexport {};\n`);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  // Programs in the documents are ES modules. Without this file, that would depend on the parents of the temporary folder.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const options = {
    ...compilerOptions,
    isolatedDeclarations: false,
    declaration: false,
    // Examples may leave values unused.
    noUnusedLocals: false,
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    paths: {
      ...Object.fromEntries([...entryPoints()].map(([name, source]) => [name, [join(ROOT, source)]])),
    },
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.ts', GLOBALS] }),
  );
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const ended = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const faults = ended.stdout.split('\n').filter((line) => line.startsWith('program'));
  const errors = faults.map((line) =>
    line.replace(/^program\d+\.ts/, (name) => names.get(name)?.from ?? name),
  );
  expect(errors).toEqual([]);
  expect(ended.status, ended.stdout).toBe(0);
});
