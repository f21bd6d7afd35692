/**
 * Instructions of skills as Markdown: what is rendered, what stays text, and that no text can become more than that.
 */
import { array, assert, asyncProperty, constantFrom, oneof, property, string } from 'fast-check';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMarkdown, type Block } from '../../src/web/markdown.ts';
import { openStage, type Stage } from '../http/stage.ts';
import { openBrowser, openPage, type Opened } from './browser.ts';

const ALLOWED = new Set(
  'div h3 h4 h5 h6 p ul ol li pre code em strong a table thead tbody tr th td'.split(' '),
);

/** Pieces from which most of Markdown and many attacks can be put together. */
const PIECES = [
  '# ',
  '- ',
  '  1. ',
  '```',
  '~~~\n',
  '`',
  '*',
  '**',
  '_',
  '[',
  '](',
  ')',
  '!',
  '|',
  '|-|-|',
  '\n',
  '\n\n',
  '    ',
  '\\',
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '[x](javascript:alert(1))',
  '[x](https://example.org/)',
  '[x](https://user@example.org/)',
  '[x](data:text/html,1)',
  '[x](https://example.org/"onclick="alert(1))',
  '\u202e',
  'word',
];
const text = array(oneof(constantFrom(...PIECES), string({ unit: 'binary' })), { maxLength: 40 }).map(
  (parts) => parts.join(''),
);

function only(source: string): Block {
  const { blocks } = parseMarkdown(source);
  expect(blocks).toHaveLength(1);
  return blocks[0]!;
}

const inlineOf = (source: string): unknown => {
  const block = only(source);
  return block.kind === 'paragraph' ? block.children : undefined;
};

describe('Markdown', () => {
  test('has headings, paragraphs, lists, code and tables', () => {
    const { blocks } = parseMarkdown(
      '## Title\ntext\nmore\n\n1. one\n   - deep\n\n   ```sh\n   ls *\n   ```\n2. two\n\n~~~\n# code\n~~~\n| a | b |\n|---|:-:|\n| 1 | x\\|y |',
    );
    expect(blocks.map(({ kind }) => kind)).toEqual(['heading', 'paragraph', 'list', 'code', 'table']);
    const [heading, , list, code, table] = blocks;
    expect(heading).toMatchObject({ level: 2, children: [{ text: 'Title' }] });
    expect(list).toMatchObject({ ordered: true, items: [{ children: [{ text: 'one' }] }, {}] });
    expect(JSON.stringify(list)).toContain('ls *');
    expect(code).toEqual({ kind: 'code', text: '# code' });
    expect(table).toMatchObject({
      head: [[{ text: 'a' }], [{ text: 'b' }]],
      rows: [[[{ text: '1' }], [{}]]],
    });
  });

  test('has code, emphasis and https links in a line', () => {
    expect(inlineOf('a **b *c* d** `e*` snake_case_name')).toEqual([
      { kind: 'text', text: 'a ' },
      {
        kind: 'strong',
        children: [
          { kind: 'text', text: 'b ' },
          { kind: 'em', children: [{ kind: 'text', text: 'c' }] },
          { kind: 'text', text: ' d' },
        ],
      },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'e*' },
      { kind: 'text', text: ' snake_case_name' },
    ]);
    expect(inlineOf('[our bank](https://evil.example/x)')).toEqual([
      { kind: 'link', label: 'our bank', href: 'https://evil.example/x', host: 'evil.example' },
    ]);
  });

  test.each([
    'javascript:alert(1)',
    'http://example.org/',
    'data:text/html,x',
    'https://bank.example@evil.example/',
    '//example.org/',
    'scripts/run.py',
  ])('shows a link to %s as text with its target', (target) => {
    const shown = inlineOf(`[label](${target})`);
    expect(shown).toEqual([{ kind: 'text', text: expect.stringContaining(target) as string }]);
  });

  test('leaves HTML, images, quotes and rules as text', () => {
    for (const source of ['<b>x</b>', '![a](https://example.org/a.png)', '> quote', '***'])
      expect(inlineOf(source)).toEqual([{ kind: 'text', text: source }]);
  });

  test('loses no word of a text', () => {
    assert(
      property(array(constantFrom('alpha', 'beta', '*', '`', '_', '[', ' ', '\n', '- ', '# ')), (parts) => {
        const shown = JSON.stringify(parseMarkdown(parts.join('')).blocks);
        const count = (where: string): number => where.split(/alpha|beta/).length;
        // A word directly after an opening fence is the name of a language.
        if (!parts.join('').includes('```')) expect(count(shown)).toBe(count(parts.join('')));
      }),
    );
  });

  /** The expression of the heading took minutes for this: every space was tried as the start of its text. */
  test.each(['# ', '- ', '1. '])(
    'reads a line of spaces that ends in another separator once: %j',
    (start) => {
      const { blocks } = parseMarkdown(`${start}${' '.repeat(250_000)}x\u2028y`);
      expect(JSON.stringify(blocks)).toContain('x\u2028y');
    },
  );

  test.each(['*a', '_a ', '[', '`a', '``', '[a](', '![', '|a\n', '- ', '  - ', '**a*', '*a* '])(
    'makes a bounded number of elements of a long text of %j',
    (piece) => {
      const { blocks } = parseMarkdown(piece.repeat(300_000 / piece.length));
      const elements = JSON.stringify(blocks).split('"kind":"em"').length;
      expect(elements).toBeLessThanOrEqual(5001);
    },
  );
});

describe('Markdown in the console', () => {
  let stage: Stage;
  let browser: Browser;
  let opened: Opened;

  beforeAll(async () => {
    const instructions = '# Use\n\nRun *it*: [docs](https://docs.example/a)\n\n<img src=x onerror=alert(1)>';
    const head = '---\nname: NAME\ndescription: Does things.\n---\n';
    const skillMd = (name: string): string => head.replace('NAME', name) + instructions;
    [stage, browser] = await Promise.all([
      openStage({
        skills: {
          texts: { files: { 'SKILL.md': skillMd('texts'), 'notes/more.md': 'more' } },
          scripts: { files: { 'SKILL.md': skillMd('scripts'), 'scripts/go.py': 'print(1)', 'a.sh': 'ls' } },
          plain: { source: 'def execute(params):\n    return 1', files: { 'instructions.md': '# Plain' } },
        },
      }),
      openBrowser(),
    ]);
    opened = await openPage(browser, { stage, as: 'both', at: '/skills/test/texts' });
  });

  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await browser.close();
    await stage[Symbol.asyncDispose]();
  });

  test('shows the instructions of an Agent Skill, its scripts and its files', async () => {
    const { page, faults } = opened;
    const shown = page.locator('.markdown');
    expect(await shown.locator('h3').textContent()).toBe('Use');
    expect(await shown.locator('em').textContent()).toBe('it');
    const link = shown.getByRole('link');
    expect(await link.textContent()).toBe('docs (docs.example)');
    expect(await link.getAttribute('rel')).toContain('noopener');
    expect(await shown.textContent()).toContain('<img src=x onerror=alert(1)>');
    expect(await page.getByRole('button', { name: 'Run' }).count()).toBe(0);
    await using scripts = await openPage(browser, { stage, as: 'both', at: '/skills/test/scripts' });
    const rows = scripts.page.locator('section', { hasText: 'Scripts (2)' }).locator('tbody tr');
    expect(await rows.allTextContents()).toEqual([
      expect.stringMatching(/^a\.shShell[0-9a-f]{12}$/) as string,
      expect.stringMatching(/^scripts\/go\.pyPython[0-9a-f]{12}$/) as string,
    ]);
    await using plain = await openPage(browser, { stage, as: 'both', at: '/skills/test/plain' });
    expect(await plain.page.locator('.markdown').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('makes only the allowed elements and attributes of any text', async () => {
    const { page, faults } = opened;
    await assert(
      asyncProperty(array(text, { minLength: 20, maxLength: 20 }), async (sources) => {
        const found = (await page.evaluate(
          `(async () => {
            const { markdownView } = await import('/ui/markdown-view.js');
            return ${JSON.stringify(sources)}.map((source) => {
              const view = markdownView(source);
              const all = [view, ...view.querySelectorAll('*')];
              const attributes = all.flatMap((one) => [...one.attributes].map(({ name, value }) => [name, value]));
              return { tags: all.map(({ localName }) => localName), attributes };
            });
          })()`,
        )) as { tags: string[]; attributes: [string, string][] }[];
        for (const { tags, attributes } of found) {
          for (const tag of tags) expect(ALLOWED).toContain(tag);
          for (const [name, value] of attributes) {
            expect(['class', 'href', 'rel', 'target']).toContain(name);
            if (name === 'href') expect(value).toMatch(/^https:\/\/[^/@]+\//);
            if (name === 'rel') expect(value).toContain('noopener');
          }
        }
      }),
      { numRuns: 50 },
    );
    expect(faults).toEqual([]);
  });
});
