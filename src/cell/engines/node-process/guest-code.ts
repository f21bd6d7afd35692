/**
 * Stages the TypeScript that runs inside Node cells as plain JavaScript: cells start faster without type stripping, and
 * Node does not strip types below node_modules.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sharedEngines } from '../../../load/home.ts';
import { publishSync } from '../../../load/publish.ts';
import { packageRoot } from '../../../package-root.ts';
import { makeReadable } from '../../linux/readable.ts';
import { share, takeShared } from '../python-wasm/shared-engines.ts';
import { linkModules } from './link-modules.ts';
import { markInUse, sweepOtherVersions } from './staged-folders.ts';

/** Files of other guests that a guest imports; they are staged with it, each below the name of its guest. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  node: [
    'wasm/js/cell/program.ts',
    'wasm/js/prelude/entry-point.ts',
    'wasm/js/prelude/json.ts',
    'wasm/js/prelude/skill-names.ts',
  ],
};

/** Files that processes of cells start with; each is also staged as one script, with the ending `.cjs`. */
const LINKED: Readonly<Record<string, readonly string[]>> = {
  wasm: ['cell/main.ts', 'js/cell/main.ts', 'python/cell/main.ts'],
};
/** Of the staged files; part of the version. */
const LAYOUT = 'linked';

interface GuestCode {
  version: string;
  texts: Record<string, string>;
}

/** By guest name. Read once, so that replacing the package under a running host does not mix versions. */
const CODE = new Map<string, GuestCode>();

/** Returns the folder with the staged code of `guest/<name>`; creates it on first use of this version. */
export function stageGuestCode(home: string, name: string): string {
  const code = CODE.get(name) ?? readCode(name);
  CODE.set(name, code);
  const { version, texts } = code;
  const staged = join(home, 'guest', version);
  if (existsSync(staged)) {
    markInUse(staged);
  } else {
    const shared = sharedEngines();
    if (!shared || !takeShared(shared, version, staged)) {
      stage(staged, stripTypes(texts), LINKED[name] ?? []);
      if (shared) share(shared, version, staged);
    }
    // Old versions only accumulate when a new one is staged.
    sweepOtherVersions(home, version);
  }
  return staged;
}

function readCode(name: string): GuestCode {
  const texts = readTexts(name);
  const key = createHash('sha256')
    .update(JSON.stringify([process.version, LAYOUT, texts]))
    .digest('hex');
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

function stage(staged: string, scripts: Record<string, string>, entries: readonly string[]): void {
  const write = (draft: string): void => {
    for (const [file, text] of Object.entries(scripts)) {
      const target = join(draft, file.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text.replaceAll(/(from\s+'\.[^']*)\.ts'/g, "$1.js'"));
    }
    for (const entry of entries)
      writeFileSync(join(draft, entry.replace(/\.ts$/, '.cjs')), linkModules(scripts, entry));
    writeFileSync(join(draft, 'package.json'), '{"type":"module"}');
    makeReadable(draft);
  };
  publishSync(staged, write, { keepsExisting: true });
}

const STRIP = `
const { stripTypeScriptTypes } = require('node:module');
const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const stripped = Object.entries(texts).map(([file, text]) => [file, stripTypeScriptTypes(text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(stripped)));
`;

/** Runs in a child process, because Node prints a warning that the function is experimental. */
function stripTypes(texts: Record<string, string>): Record<string, string> {
  const output = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', STRIP], {
    input: JSON.stringify(texts),
    env: {},
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
  });
  return JSON.parse(output) as Record<string, string>;
}
