/**
 * Builds skills in TypeScript: strips the types, and packs the script together with QuickJS into a component.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../package-root.ts';
import { compile, packageFile, type Workshop } from './tools.ts';

/** The part of guest/wasm/wit/skill.wit that QuickJS can bind without help. */
const WIT = `package skillcell:skill@0.1.0;

world skill {
  export execute: func(params: string) -> result<string, string>;
}
`;

/**
 * No clock, files or network: using them ends the call. Uses the engine build optimized for speed, which is half a megabyte
 * larger and takes a quarter less time.
 */
const FLAGS = ['--sync', '--stub-wasi', '--world', 'skill'];

const STRIP = `
const { stripTypeScriptTypes } = require('node:module');
process.stdout.write(stripTypeScriptTypes(require('node:fs').readFileSync(0, 'utf8')));
`;

export function buildTypeScript({ bundle, scratch, output, packagesFrom }: Workshop): void {
  const tool = packageFile('componentize-qjs', 'bin/componentize-qjs', [...packagesFrom, packageRoot()]);
  const scripts = join(scratch, 'scripts');
  stripTypes(join(bundle, 'src'), scripts);
  const wit = join(scratch, 'skill.wit');
  writeFileSync(wit, WIT);
  const paths = [
    '--wit',
    wit,
    '--js',
    join(scripts, 'skill.ts'),
    '--module-root',
    scripts,
    '--output',
    output,
  ];
  compile(process.execPath, [tool, ...paths, ...FLAGS], { cwd: scratch, source: 'The TypeScript source' });
}

/** File names stay the same, so that imports such as `./other.ts` still resolve. */
function stripTypes(from: string, to: string): void {
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /\.[jt]s$/.test(name))) {
    const target = join(to, file);
    mkdirSync(dirname(target), { recursive: true });
    const text = readFileSync(join(from, file), 'utf8');
    writeFileSync(target, file.endsWith('.ts') ? stripFile(text, `src/${file}`) : text);
  }
}

/** In a child process, because Node prints a warning about this experimental function to stderr. */
function stripFile(text: string, source: string): string {
  const args = ['--disable-warning=ExperimentalWarning', '-e', STRIP];
  return compile(process.execPath, args, { cwd: process.cwd(), source, input: text });
}
