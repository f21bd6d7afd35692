/**
 * Serves the console. In a clone, types are stripped from its TypeScript on the fly; a published package has it compiled.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context, Hono } from 'hono';
import { packageRoot } from '../inside.ts';

/** Nothing from a skill can become code: no inline scripts or styles, no other origins, no HTML from strings. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
};

interface Asset {
  bytes: Buffer;
  type: string;
  etag: string;
}

export function addConsole(app: Hono): void {
  let assets: Promise<Map<string, Asset>> | undefined;
  const answer = async (c: Context, name: string): Promise<Response> => {
    assets ??= readAssets();
    const asset = (await assets).get(name);
    return asset ? send(c, asset) : c.notFound();
  };
  app.get('/', (c) => answer(c, 'index.html'));
  app.get('/ui/:name{.+}', (c) => answer(c, c.req.param('name')));
}

function send(c: Context, { bytes, type, etag }: Asset): Response {
  c.header('Content-Security-Policy', POLICY);
  c.header('Cross-Origin-Opener-Policy', 'same-origin');
  c.header('Cross-Origin-Resource-Policy', 'same-origin');
  c.header('Cache-Control', 'no-cache');
  c.header('ETag', etag);
  if (c.req.header('if-none-match') === etag) return c.body(null, 304);
  c.header('Content-Type', type);
  return c.body(new Uint8Array(bytes));
}

async function readAssets(): Promise<Map<string, Asset>> {
  const fixed = filesIn(join(packageRoot(), 'src/web/static'));
  const texts = { ...fixed, ...(await scripts()) };
  return new Map(Object.entries(texts).map(([name, text]) => [name, assetOf(name, text)]));
}

function assetOf(name: string, text: string): Asset {
  const bytes = Buffer.from(text);
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return { bytes, type, etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"` };
}

async function scripts(): Promise<Record<string, string>> {
  const compiled = join(packageRoot(), 'dist/src/web');
  const source = join(packageRoot(), 'src/web');
  if (!existsSync(join(source, 'main.ts'))) return filesIn(compiled, '.js');
  const stripped = await stripTypes(filesIn(source, '.ts'));
  return Object.fromEntries(
    Object.entries(stripped).map(([name, text]) => [
      name.replace(/\.ts$/, '.js'),
      text.replaceAll(/(from\s+'\.[^']*)\.ts'/g, "$1.js'"),
    ]),
  );
}

/** Contents by path relative to the folder. */
function filesIn(folder: string, ending = ''): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

const STRIP = `
const { stripTypeScriptTypes } = require('node:module');
const texts = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const stripped = Object.entries(texts).map(([file, text]) => [file, stripTypeScriptTypes(text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(stripped)));
`;

/** In a child process, because Node prints a warning about this experimental function to stderr. */
async function stripTypes(texts: Record<string, string>): Promise<Record<string, string>> {
  const running = promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '-e', STRIP],
    { env: {}, maxBuffer: 16 * 1024 * 1024 },
  );
  running.child.stdin?.end(JSON.stringify(texts));
  return JSON.parse((await running).stdout) as Record<string, string>;
}
