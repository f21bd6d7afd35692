/**
 * The tree of a program in the console: a timeline of its calls, with its source as text beside it.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from '../http/stage.ts';
import { openBrowser, openPage } from './browser.ts';

const LONG = 180_000;
const EVIL = `<img src=x onerror="document.title='pwned'">`;
const SOURCE = `const evil = ${JSON.stringify(EVIL)};
const { n } = await skills.test.double({ n: 2 });
await skills.test.nosy({}).catch(() => evil);
return n;`;
const skill = (source: string, more: object = {}): object => ({
  manifest: { execution: ['wasm'], parameters: { type: 'object' }, ...more },
  files: { 'skill.ts': source },
});
const SKILLS = {
  double: skill('export const execute = ({ n }: { n: number }) => ({ n: n * 2 });'),
  nosy: skill('export const execute = () => fetch("http://127.0.0.1:9/");'),
};
let stage: Stage;
let browser: Browser;
let root = '';

beforeAll(async () => {
  [stage, browser] = await Promise.all([
    openStage({ skills: SKILLS, listen: { programs: true }, runtime: { audit: { keepContent: true } } }),
    openBrowser(),
  ]);
  const json = { source: SOURCE, skills: ['test/*'], input: {} };
  const response = await stage.ask('/v1/programs', { method: 'POST', as: 'caller', json });
  root = ((await response.json()) as { call_id: string }).call_id;
}, LONG);

afterAll(async () => {
  await browser.close();
  await stage[Symbol.asyncDispose]();
});

describe('the page of a program', () => {
  test(
    'shows its calls as a timeline that leads to each, and its source as text',
    { timeout: LONG },
    async () => {
      await using opened = await openPage(browser, { stage, as: 'reader', at: `/audit/${root}` });
      const { page, faults } = opened;
      const names = page.locator('.tree-name');
      await expect
        .poll(async () => (await names.allTextContents()).map((text) => text.trim()))
        .toEqual(['program/typescript', 'test/double', 'test/nosy']);
      expect(await page.locator('.tree-bar').count()).toBe(3);
      expect(await page.locator('.tree-source').textContent()).toBe(SOURCE);
      expect(await page.title()).not.toContain('pwned');
      await page.getByRole('link', { name: 'test/nosy' }).first().click();
      await page.getByRole('heading', { name: 'Call of test/nosy' }).waitFor();
      expect(await page.locator('strong.tree-name').textContent()).toContain('test/nosy');
      expect(faults).toEqual([]);
    },
  );

  test('and the tree is unknown to other tenants', { timeout: LONG }, async () => {
    const path = `/v1/receipts/${root}/tree`;
    expect((await stage.ask(path, { as: 'other' })).status).toBe(404);
    const answer = await stage.ask(path, { as: 'reader' });
    const { receipts } = (await answer.json()) as {
      receipts: { receipt: { depth?: number }; seq?: number }[];
    };
    expect(receipts.map(({ receipt: { depth }, seq }) => [depth, seq])).toEqual([
      [undefined, undefined],
      [1, undefined],
      [1, undefined],
    ]);
  });
});
