/**
 * Stages the TypeScript that runs inside Node cells as plain JavaScript: a cell starts faster without a type
 * stripper, and an installed package could not strip types at all.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publish } from '../../load/publish.ts';
import { packageRoot } from '../../package-root.ts';
import { makeReadable } from '../readable.ts';
import { markInUse, sweepOtherVersions } from './staged-folders.ts';

/** Files of other guests that one uses: it is staged together with them, each below the name of its own. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  node: ['wasm/js/prelude/entry-point.ts', 'wasm/js/prelude/json.ts'],
};

interface GuestCode {
  version: string;
  texts: Record<string, string>;
}

/** By name. Read once: a package that is replaced under a running host must not give it the cells of another version. */
const CODE = new Map<string, GuestCode>();

/** Folder of the staged code of `guest/<name>`; made on first use of this version. */
export function stageGuestCode(home: string, name: string): string {
  const code = CODE.get(name) ?? readCode(name);
  CODE.set(name, code);
  const { version, texts } = code;
  const staged = join(home, 'guest', version);
  if (existsSync(staged)) {
    markInUse(staged);
  } else {
    stage(staged, stripTypes(texts));
    // A new version is what makes others old.
    sweepOtherVersions(home, version);
  }
  return staged;
}

function readCode(name: string): GuestCode {
  const texts = readTexts(name);
  const key = createHash('sha256').update(process.version).update(JSON.stringify(texts)).digest('hex');
  return { version: `${name}-${key.slice(0, 32)}`, texts };
}

function readTexts(name: string): Record<string, string> {
  const guest = join(packageRoot(), 'guest');
  const own = readdirSync(join(guest, name), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .toSorted();
  const shared = SHARED[name];
  const root = shared ? guest : join(guest, name);
  const files = shared ? [...own.map((file) => `${name}/${file}`), ...shared] : own;
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

function stage(staged: string, scripts: Record<string, string>): void {
  try {
    publish(staged, (draft) => {
      for (const [file, text] of Object.entries(scripts)) {
        const target = join(draft, file.replace(/\.ts$/, '.js'));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, text.replaceAll(/(from\s+'\.[^']*)\.ts'/g, "$1.js'"));
      }
      writeFileSync(join(draft, 'package.json'), '{"type":"module"}');
      makeReadable(draft);
    });
  } catch (error) {
    // Another process was faster with the same content.
    if (!existsSync(staged)) throw error;
  }
}

const STRIP = `
const { stripTypeScriptTypes } = require('node:module');
const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const stripped = Object.entries(texts).map(([file, text]) => [file, stripTypeScriptTypes(text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(stripped)));
`;

/** In a process of its own, because Node warns on stderr about the function being young. */
function stripTypes(texts: Record<string, string>): Record<string, string> {
  const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', STRIP], {
    input: JSON.stringify(texts),
    env: {},
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
  });
  return JSON.parse(output) as Record<string, string>;
}
