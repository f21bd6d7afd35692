/**
 * Calls in the console: filters that a URL keeps, pages, export, and the story of one call.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from '../http/stage.ts';
import { openBrowser, openPage } from './browser.ts';

/** Made up for the pages. */
const PAGED = 'http:paged:by';
const EVIL = `<img src=x onerror="document.title='pwned'">`;

const SKILLS = {
  echo: {
    source: 'def execute(params):\n    return params',
    manifest: { env_vars: { COLOUR: { required: false } } },
  },
  nosy: { source: 'def execute(params):\n    return open("/etc/hostname").read()' },
  tired: {
    source: 'import time\ndef execute(params):\n    time.sleep(20)',
    manifest: { limits: { timeout: '300ms' } },
  },
  evil: { source: `def execute(params):\n    open("/etc/" + ${JSON.stringify(EVIL)})` },
  unknown: { source: 'def execute(params):\n    return 1', manifest: { limits: { timeout: 'soon' } } },
};

let stage: Stage;
let browser: Browser;

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage({ skills: SKILLS }), openBrowser()]);
  for (const name of ['echo', 'nosy', 'tired', 'evil', 'unknown']) await stage.execute(`test/${name}`);
  await stage.execute('test/echo', {}, { as: 'other' });
});

afterAll(async () => {
  await browser.close();
  await stage[Symbol.asyncDispose]();
});

const open = (options: { as: string; at: string; width?: number }): ReturnType<typeof openPage> =>
  openPage(browser, { stage, ...options });

const skillsOn = (page: Page): Promise<string[]> => page.locator('.receipt-skill').allTextContents();

const idOf = (skill: string): string => {
  const all = stage.runtime.audit.list({ skill, limit: 100 });
  return all.find(({ receipt }) => receipt.caller !== PAGED)?.receipt.call_id ?? '';
};

describe('the filters of the console', () => {
  test('are kept in the URL, so that another admin sees the same', async () => {
    await using opened = await open({ as: 'admin', at: '/audit' });
    const { page, faults } = opened;
    await page.getByText('More filters').click();
    await page.getByLabel('Tenant').fill('umbrella');
    await page.getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => skillsOn(page)).toEqual(['test/echo']);
    expect(page.url()).toContain('#/audit?tenant=umbrella');
    await page.getByLabel('Mode').selectOption('wasm');
    await page.getByText('No receipt matches.').waitFor();
    const shared = new URL(page.url()).hash.slice(1);
    await using other = await open({ as: 'admin', at: shared });
    await other.page.getByText('No receipt matches.').waitFor();
    expect(await other.page.getByLabel('Tenant').inputValue()).toBe('umbrella');
    expect(await other.page.getByLabel('Mode').inputValue()).toBe('wasm');
    await page.goBack();
    await expect.poll(() => skillsOn(page)).toEqual(['test/echo']);
    await page.getByRole('link', { name: 'Clear' }).click();
    await expect.poll(async () => (await skillsOn(page)).length).toBe(6);
    expect(faults).toEqual([]);
  });

  test('select by status, caller and time', async () => {
    await using opened = await open({ as: 'admin', at: '/audit?code=resource_exceeded' });
    const { page } = opened;
    await expect.poll(() => skillsOn(page)).toEqual(['test/tired']);
    await page.goto(`${stage.url}/#/audit?until=2020-01-01T00:00:00.000Z`);
    await page.getByText('No receipt matches.').waitFor();
    await page.goto(`${stage.url}/#/audit?since=2020-01-01T00:00:00.000Z`);
    await expect.poll(async () => (await skillsOn(page)).length).toBe(6);
    await page.locator('.caller a', { hasText: 'other' }).click();
    await expect.poll(() => skillsOn(page)).toEqual(['test/echo']);
  });

  test('offer no tenant to a tenant, who sees only its own calls', async () => {
    await using opened = await open({ as: 'both', at: '/calls' });
    const { page } = opened;
    await page.getByText('More filters').click();
    expect(await page.getByLabel('Tenant').count()).toBe(0);
    const rows = page.locator('section', { hasText: 'Recent' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(5);
    expect((await rows.allTextContents()).join()).toContain('caller of acme');
    expect((await rows.allTextContents()).join()).toContain('subprocess · jail');
    await page.getByLabel('Skill', { exact: true }).fill('test/nosy');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
  });

  test('page through older receipts', async () => {
    const [sample] = stage.runtime.audit.list({ skill: 'test/echo', limit: 1 });
    for (let n = 0; n < 50; n++) {
      const call_id = `01ZZZZZZZZZZZZZZZZZZZZZZ${String(n).padStart(2, '0')}`;
      stage.runtime.audit.append({ ...sample!.receipt, call_id, caller: PAGED });
    }
    await using opened = await open({ as: 'admin', at: '/audit' });
    const { page } = opened;
    await expect.poll(async () => (await skillsOn(page)).length).toBe(50);
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(async () => (await skillsOn(page)).length).toBe(6);
    expect(page.url()).toContain('before=');
    await page.getByRole('link', { name: 'Newest' }).click();
    await expect.poll(async () => (await skillsOn(page)).length).toBe(50);
  });
});

describe('the export of the console', () => {
  test.each(['JSONL', 'CSV'])('saves what is selected as %s', async (format) => {
    await using opened = await open({ as: 'both', at: '/audit?denied=true&skill=test/nosy' });
    const { page, faults } = opened;
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: format }).click();
    const download = await saving;
    expect(download.suggestedFilename()).toBe(`receipts.${format.toLowerCase()}`);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(format === 'CSV' ? 2 : 1);
    expect(lines.at(-1)).toContain('read /etc/hostname');
    await page.getByText('Saved.').waitFor();
    expect(faults).toEqual([]);
  });
});

describe('the story of a call', () => {
  const storyOf = async (skill: string, as = 'both'): Promise<string> => {
    await using opened = await open({ as, at: `/calls/${idOf(skill)}` });
    expect(opened.faults).toEqual([]);
    expect(await opened.page.title()).not.toContain('pwned');
    expect(await opened.page.locator('main img').count()).toBe(0);
    return (await opened.page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
  };

  test('says who asked, where it ran and why, what was granted and how it ended', async () => {
    const story = await storyOf('test/echo', 'other');
    expect(story).toContain('The token "other" of the tenant "umbrella" called test/echo, version 1.0.0');
    expect(story).toContain('It ran as a process in an OS jail (mode subprocess), with the engine python.');
    expect(story).toContain("Why this mode: first of the manifest's list that works here");
    expect(story).toContain('env COLOUR:');
    expect(story).toContain('Nothing was denied.');
    expect(story).toContain('30s');
    expect(story).toContain('The call succeeded.');
    expect(story).toContain('skillcell audit verify');
    // The place in the log is not for tenants.
    expect(story).not.toContain('in the log, and is hashed');
    expect(await storyOf('test/echo', 'admin')).toMatch(/It is number \d+ in the log/);
  });

  test('says what was denied, which limit was exceeded, and what never ran', async () => {
    expect(await storyOf('test/nosy')).toContain('read /etc/hostname');
    const tired = await storyOf('test/tired');
    expect(tired).toContain('The call failed: limit exceeded: timeout.');
    expect(tired).toMatch(/Time [\d.]+ m?s 300ms exceeded/);
    const unknown = await storyOf('test/unknown');
    expect(unknown).toContain('The call was refused before anything ran.');
    expect(unknown).toContain('Nothing was granted');
  });

  test('shows the text of a skill as text', async () => {
    expect(await storyOf('test/evil')).toContain(EVIL);
  });

  test('of another tenant is not shown', async () => {
    await using opened = await open({ as: 'other', at: `/calls/${idOf('test/nosy')}` });
    expect(await opened.page.locator('main').textContent()).toContain('Unknown call');
  });
});

describe('every view of calls', () => {
  const views = (): string[] => ['/audit', '/calls', `/audit/${idOf('test/nosy')}`, '/metrics'];

  test('has one main heading, and a name for every control', async () => {
    for (const at of views()) {
      await using opened = await open({ as: 'admin', at });
      await opened.page.waitForLoadState('networkidle');
      const problems = await opened.page.evaluate(`(() => {
        const named = (one) => one.getAttribute('aria-label') || one.closest('label')?.textContent.trim() || one.textContent.trim();
        const controls = [...document.querySelectorAll('input, select, button, a, summary, th')];
        const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
        return [
          ...controls.filter((one) => !named(one)).map((one) => 'no name: ' + one.outerHTML),
          ...(document.querySelectorAll('h1').length === 1 ? [] : ['not one h1']),
          ...(new Set(ids).size === ids.length ? [] : ['an id twice']),
          ...[...document.querySelectorAll('ol > :not(li), ul > :not(li)')].map((one) => 'in a list: ' + one.outerHTML),
        ];
      })()`);
      expect(problems, at).toEqual([]);
    }
  });

  test('fits a phone, with whole labels in its charts', async () => {
    for (const at of views()) {
      await using opened = await open({ as: 'admin', at, width: 390 });
      const { page } = opened;
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth'), at).toBeLessThanOrEqual(390);
      const clipped = await page.evaluate(`[...document.querySelectorAll('.chart text')]
        .filter((one) => one.getBBox().x < 0).map(({ textContent }) => textContent)`);
      expect(clipped, at).toEqual([]);
    }
  });
});
