/**
 * Compares tables and counts in the documents with the code, and checks every link.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NAME_ATTACKS } from '../../attacks/network/name-attacks.ts';
import { NETWORK_ATTACKS } from '../../attacks/runner/run-network.ts';
import { JS_ATTACKS } from '../../attacks/runner/js-attacks.ts';
import { PYTHON_ATTACKS } from '../../attacks/runner/python-attacks.ts';
import { SUBPROCESS_ATTACKS } from '../../attacks/runner/subprocess-attacks.ts';
import { TRUST_ATTACKS } from '../../attacks/trust/corpus.ts';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { EXIT_CODES } from '../../src/vocabulary/error-codes.ts';
import { formatDuration, formatSize } from '../../src/manifest/units.ts';
import { DEFAULT_LIMITS } from '../../src/vocabulary/limits.ts';
import type { GrantedLimits } from '../../src/policy/grant.ts';
import { DEFAULT_POLICY } from '../../src/policy/operator.ts';
import { DOCUMENTS, readDocument, ROOT, tableUnder } from './documents.ts';

const STOPS = 'docs/security/what-stops-what.md';

function inWords(limits: GrantedLimits): Record<string, string> {
  return {
    timeout: formatDuration(limits.timeout),
    cpu: formatDuration(limits.cpu),
    memory: formatSize(limits.memory),
    output: formatSize(limits.output),
    processes: String(limits.processes),
    scratch: formatSize(limits.scratch),
  };
}

/** Anchors of headings as on GitHub: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('docs/errors.md', () => {
  test('lists every error code with its exit code', () => {
    const rows = tableUnder(readDocument('docs/errors.md'), 'Codes');
    expect(Object.fromEntries(rows.map(([code, exit]) => [code, Number(exit)]))).toEqual(EXIT_CODES);
    expect(rows.filter((row) => row.at(-1) === '')).toEqual([]);
  });

  test('says how to handle every code, in the same order', () => {
    const [, advice = ''] = readDocument('docs/errors.md').split('## What to do about each');
    const titles = [...advice.matchAll(/^### (\w+)$/gm)].map(([, title]) => title);
    expect(titles).toEqual(Object.keys(EXIT_CODES));
  });
});

describe('docs/manifest.md', () => {
  test('states the defaults and ceilings of the limits', () => {
    const rows = tableUnder(readDocument('docs/manifest.md'), 'Limits');
    const column = (at: number): object => Object.fromEntries(rows.map((row) => [row[0], row[at]]));
    expect(column(1)).toEqual(inWords(DEFAULT_LIMITS));
    expect(column(2)).toEqual(inWords(DEFAULT_POLICY.ceilings));
  });
});

describe(STOPS, () => {
  test.each([
    ['hostile skills', SUBPROCESS_ATTACKS],
    ['hostile WebAssembly binaries', WASM_ATTACKS],
    ['attacks on Python in Wasm', PYTHON_ATTACKS],
    ['attacks through the gateway', [...NETWORK_ATTACKS, ...NAME_ATTACKS]],
    ['attacks on JavaScript in Wasm', JS_ATTACKS],
    ['attacks on what comes before a call', TRUST_ATTACKS],
  ])('does not claim more %s than there are', (what, attacks) => {
    const claimed = new RegExp(`more than (\\d+) ${what}`).exec(readDocument(STOPS))?.[1];
    expect(attacks.length).toBeGreaterThan(Number(claimed));
  });

  test.each([
    ['What stops what in a subprocess', SUBPROCESS_ATTACKS],
    ['What stops what in Wasm', WASM_ATTACKS],
    ['What stops what for Python in Wasm', PYTHON_ATTACKS],
    ['What stops what for JavaScript in Wasm', JS_ATTACKS],
    ['What stops what before a call', TRUST_ATTACKS],
    ['What stops what at the gateway', [...NETWORK_ATTACKS, ...NAME_ATTACKS]],
  ])('names attacks that exist: %s', (title, attacks) => {
    const rows = tableUnder(readDocument(STOPS), title);
    const named = rows.flatMap((row) => (row.at(-1) ?? '').split(/, */)).filter(Boolean);
    const known = new Set(attacks.map(({ name }) => name));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  test('names every part of the source and of the code inside cells', () => {
    const text = readDocument('ARCHITECTURE.md');
    const parts = ['src', 'guest'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `\`${folder}/${name}/\``),
    );
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.filter((part) => !text.includes(part))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('the document %s', (file) => {
  test('links to files that exist', () => {
    const links = [...readDocument(file).matchAll(/\]\((?!https?:|\{)([^)#\s]+)[^)]*\)/g)].map(
      ([, link = '']) => link,
    );
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(file), link)))).toEqual([]);
  });

  test('links to headings that exist', () => {
    const links = [...readDocument(file).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const dead = links.filter(([, path = '', anchor = '']) => {
      const target = path === '' ? file : join(dirname(file), path);
      return target.endsWith('.md') && !anchorsOf(readDocument(target)).includes(anchor);
    });
    expect(dead.map(([link]) => link)).toEqual([]);
  });

  test('names source files and folders that exist', () => {
    const named = [...readDocument(file).matchAll(/`((?:src|guest|scripts|attacks|bench|test)\/[\w./-]+)`/g)];
    const paths = named.map(([, path = '']) => path).filter((path) => !path.startsWith('bench/results'));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
