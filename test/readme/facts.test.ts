/**
 * Tables and counts of the documents against the code that they describe, and every link against a file.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NAME_ATTACKS } from '../../attacks/network/name-attacks.ts';
import { NETWORK_ATTACKS } from '../../attacks/runner/run-network.ts';
import { JS_ATTACKS } from '../../attacks/runner/js-expectations.ts';
import { PYTHON_ATTACKS } from '../../attacks/runner/python-expectations.ts';
import { TRUST_ATTACKS } from '../../attacks/trust/corpus.ts';
import { WASM_ATTACKS } from '../../attacks/wasm/corpus.ts';
import { EXIT_CODES } from '../../src/errors.ts';
import { formatDuration, formatSize } from '../../src/manifest/units.ts';
import { DEFAULT_LIMITS } from '../../src/policy/compute-grant.ts';
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

/** Headings as GitHub names them in links: lower case, no punctuation, hyphens for spaces. */
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
  test('has every error code with its exit code', () => {
    const rows = tableUnder(readDocument('docs/errors.md'), 'Codes');
    expect(Object.fromEntries(rows.map(([code, exit]) => [code, Number(exit)]))).toEqual(EXIT_CODES);
    expect(rows.filter((row) => row.at(-1) === '')).toEqual([]);
  });

  test('says for every code what to do about it, in the same order', () => {
    const [, advice = ''] = readDocument('docs/errors.md').split('## What to do about each');
    const titles = [...advice.matchAll(/^### (\w+)$/gm)].map(([, title]) => title);
    expect(titles).toEqual(Object.keys(EXIT_CODES));
  });
});

describe('docs/manifest.md', () => {
  test('has the defaults and ceilings of the limits', () => {
    const rows = tableUnder(readDocument('docs/manifest.md'), 'Limits');
    const column = (at: number): object => Object.fromEntries(rows.map((row) => [row[0], row[at]]));
    expect(column(1)).toEqual(inWords(DEFAULT_LIMITS));
    expect(column(2)).toEqual(inWords(DEFAULT_POLICY.ceilings));
  });
});

describe(STOPS, () => {
  test('does not claim more attacks than there are', () => {
    const claimed = /more than (\d+) hostile skills/.exec(readDocument(STOPS))?.[1];
    expect(readdirSync(join(ROOT, 'attacks/subprocess')).length).toBeGreaterThan(Number(claimed));
  });

  test('does not claim more hostile binaries than there are', () => {
    const claimed = /more than (\d+) hostile WebAssembly binaries/.exec(readDocument(STOPS))?.[1];
    expect(WASM_ATTACKS.length).toBeGreaterThan(Number(claimed));
  });

  test('does not claim more attacks on Python in Wasm than there are', () => {
    const claimed = /more than (\d+) attacks on Python in Wasm/.exec(readDocument(STOPS))?.[1];
    expect(PYTHON_ATTACKS.length).toBeGreaterThan(Number(claimed));
  });

  test('does not claim more attacks through the gateway than there are', () => {
    const claimed = /more than (\d+) attacks through the gateway/.exec(readDocument(STOPS))?.[1];
    expect(NETWORK_ATTACKS.length + NAME_ATTACKS.length).toBeGreaterThan(Number(claimed));
  });

  test.each([
    ['attacks on JavaScript in Wasm', JS_ATTACKS],
    ['attacks on what comes before a call', TRUST_ATTACKS],
  ])('does not claim more %s than there are', (what, attacks) => {
    const claimed = new RegExp(`more than (\\d+) ${what}`).exec(readDocument(STOPS))?.[1];
    expect(attacks.length).toBeGreaterThan(Number(claimed));
  });

  test('names attacks that exist', () => {
    const rows = tableUnder(readDocument(STOPS), 'What stops what in a subprocess');
    const named = rows.flatMap((row) => (row.at(-1) ?? '').split(/, */)).filter(Boolean);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !existsSync(join(ROOT, 'attacks/subprocess', name)))).toEqual([]);
  });

  test.each([
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
  test('names every part of the source and of what runs inside of cells', () => {
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

describe.each(DOCUMENTS)('%s', (file) => {
  test('links to files that exist', () => {
    const links = [...readDocument(file).matchAll(/\]\((?!https?:)([^)#\s]+)[^)]*\)/g)].map(
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
