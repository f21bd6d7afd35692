/**
 * The console in a real browser: use by mouse, by keyboard and on a phone, and attacks by a hostile skill.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from '../http/stage.ts';
import { openBrowser, openPage } from './browser.ts';

/** Changes the title of the page if any of it becomes markup or code. */
const EVIL = `"'><img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;

const GREETING = `
  def execute(params):
      print("greeting " + params["name"], flush=True)
      return {"text": "Hello " + params["name"], "length": len(params["name"]), "tags": ["kind"]}
`;

const SKILLS = {
  greeting: {
    source: GREETING,
    manifest: {
      description: 'Greets somebody.',
      parameters: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'Whom to greet.' },
          style: { type: 'string', enum: ['warm', 'short'] },
          times: { type: 'integer', minimum: 1 },
        },
      },
    },
    files: {
      'card.json': JSON.stringify({
        name: 'A greeting',
        color: '#884400',
        ui_schema: {
          type: 'card',
          fields: [
            { key: 'text', label: 'Words' },
            { key: 'length', label: 'Letters', type: 'count' },
            { key: 'tags', label: 'Tags', type: 'tags' },
          ],
        },
      }),
    },
  },
  nosy: { source: 'def execute(params):\n    return open("/etc/hostname").read()' },
  asked: { source: 'def execute(params):\n    return "at last"' },
  evil: {
    source: `
      def execute(params):
          evil = ${JSON.stringify(EVIL)}
          print(evil, flush=True)
          return {"html": evil, evil: [evil], "__proto__": {"polluted": True}}
    `,
    manifest: {
      description: EVIL,
      short_description: EVIL,
      parameters: {
        type: 'object',
        properties: { [EVIL]: { type: 'string', description: EVIL, enum: [EVIL] } },
      },
      env_vars: { EVIL_NAME: { required: false, description: EVIL } },
    },
    files: {
      'instructions.md': EVIL,
      'card.json': JSON.stringify({
        name: EVIL,
        color: 'red;background:url(x)',
        ui_schema: { fields: [{ key: 'html', label: EVIL, type: EVIL }] },
      }),
    },
  },
  slow: {
    source: `
      import time
      def execute(params):
          print("still at it", flush=True)
          time.sleep(15)
    `,
  },
};

let stage: Stage;
let browser: Browser;

beforeAll(async () => {
  [stage, browser] = await Promise.all([
    openStage({ skills: SKILLS, policy: 'skills: [{ match: "test/asked", decision: ask }]' }),
    openBrowser(),
  ]);
});

afterAll(async () => {
  await browser.close();
  await stage[Symbol.asyncDispose]();
});

const open = (options: { as?: string; at?: string; width?: number } = {}): ReturnType<typeof openPage> =>
  openPage(browser, { stage, ...options });

describe('signing in to the console', () => {
  test('accepts a valid token, keeps it in this tab, and can be undone', async () => {
    await using opened = await open();
    const { page, faults } = opened;
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Token').fill(stage.tokens['caller'] ?? '');
    await page.keyboard.press('Enter');
    await page.locator('.frame').waitFor();
    // A token with only the scope `call` cannot see the audit log.
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Skills']);
    expect(await page.context().cookies()).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(faults).toEqual([]);
  });

  test('with the printed URL leaves no token in the address bar', async () => {
    await using opened = await open({ as: 'admin' });
    expect(opened.page.url()).not.toContain('token');
  });
});

describe('trying a skill in the console', () => {
  test('runs it and shows its result on its card', async () => {
    await using opened = await open({ as: 'both', at: '/skills/test/greeting' });
    const { page, faults } = opened;
    await page.getByLabel('name').fill('Ada');
    await page.getByLabel('style').selectOption('warm');
    await page.getByRole('button', { name: 'Run' }).click();
    const card = page.locator('.result-card');
    await card.waitFor();
    expect(await card.locator('dt').allTextContents()).toEqual(['Words', 'Letters', 'Tags']);
    expect(await card.locator('dd').allTextContents()).toEqual(['Hello Ada', '3', 'kind']);
    expect(await page.locator('.log').textContent()).toBe('greeting Ada\n');
    expect(faults).toEqual([]);
  });

  test('shows what was denied and how to allow it', async () => {
    await using opened = await open({ as: 'both', at: '/skills/test/nosy' });
    const { page } = opened;
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.outcome').waitFor();
    const text = await page.locator('.outcome').textContent();
    expect(text).toContain('denied');
    expect(text).toContain('The skill may not read /etc/hostname');
    await page.getByRole('link', { name: 'receipt' }).click();
    await page.locator('.notice.bad').waitFor();
    expect(await page.locator('main').textContent()).toContain('read /etc/hostname');
    await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('only with denials').check();
    // The list is empty for a moment while it is loaded again.
    await expect.poll(() => page.locator('.receipt.denied').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.receipt:not(.denied)').count()).toBe(0);
  });

  test('says which parameter is invalid', async () => {
    await using opened = await open({ as: 'both', at: '/skills/test/greeting' });
    const { page } = opened;
    await page.getByLabel('times').fill('0');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.outcome').waitFor();
    expect(await page.locator('.outcome').textContent()).toContain('invalid parameters');
  });
});

describe('an approval in the console', () => {
  test('is given and revoked by an admin who sees what it covers', async () => {
    await using opened = await open({ as: 'admin', at: '/skills/test/asked' });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Approve this version' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('It cannot access your files');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved by http:operators:admin').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => page.locator('.outcome .code').textContent()).toContain('at last');
    await page.getByRole('button', { name: 'Revoke approval' }).click();
    await page.getByRole('button', { name: 'Approve this version' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('is not offered to other users', async () => {
    await using opened = await open({ as: 'both', at: '/skills/test/asked' });
    expect(await opened.page.getByRole('button', { name: /pprov/ }).count()).toBe(0);
  });
});

describe('the text of a hostile skill', () => {
  test('is shown as text everywhere', async () => {
    await using opened = await open({ as: 'admin', at: '/skills/test/evil' });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.result-card').waitFor();
    expect(await page.locator('.lead').textContent()).toBe(EVIL);
    expect(await page.locator('.log').textContent()).toBe(`${EVIL}\n`);
    expect(await page.locator('.result-card h3').textContent()).toBe(EVIL);
    for (const at of ['/skills', '/calls', '/audit']) {
      await page.goto(`${stage.url}/#${at}`);
      await page.getByText('evil', { exact: false }).first().waitFor();
    }
    expect(await page.locator('img:not([src="/ui/icon.svg"]), main script').count()).toBe(0);
    expect(await page.title()).not.toContain('pwned');
    expect(await page.evaluate('({}).polluted')).toBeUndefined();
    expect(faults).toEqual([]);
  });

  test('could not run even as markup, because the content security policy allows no inline code', async () => {
    await using opened = await open({ as: 'reader', at: '/audit' });
    const { page } = opened;
    const tried = await page.evaluate(
      `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'done'; } catch (error) { return error.name; } })()`,
    );
    expect(tried).toBe('TypeError');
    await page.evaluate(
      `(() => { const s = document.createElement('style'); s.textContent = 'body{display:none}'; document.head.append(s); })()`,
    );
    expect(await page.evaluate('getComputedStyle(document.body).display')).not.toBe('none');
  });
});

describe('live calls in the console', () => {
  test('can be watched and cancelled', async () => {
    await using opened = await open({ as: 'both', at: '/calls' });
    const { page } = opened;
    const call = stage.execute('test/slow');
    await page.getByRole('button', { name: 'Watch' }).click();
    await expect.poll(() => page.locator('.log').textContent()).toBe('still at it\n');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The call has ended.').waitFor();
    expect((await call).status).toBe(499);
  });
});

describe('the console without a mouse', () => {
  test('reaches everything by keyboard, with a visible focus', async () => {
    await using opened = await open({ as: 'both', at: '/skills/test/greeting' });
    const { page } = opened;
    await page.keyboard.press('Tab');
    const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
    for (let tabs = 0; tabs < 30 && (await focused()) !== 'Audit'; tabs++) await page.keyboard.press('Tab');
    expect(await focused()).toBe('Audit');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    // Screen readers announce the focused heading.
    await expect.poll(focused).toBe('Audit');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.goBack();
    await page.getByLabel('name').focus();
    await page.keyboard.type('Grace');
    for (let tabs = 0; tabs < 10 && (await focused()) !== 'Run'; tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.result-card').waitFor();
  });
});

describe('the console on a phone', () => {
  test.each(['/skills/test/greeting', '/skills/test/nosy', '/audit', '/metrics', '/calls'])(
    'shows %s without content wider than the screen',
    async (at) => {
      await using opened = await open({ as: 'both', at, width: 360 });
      const { page } = opened;
      await page.waitForTimeout(100);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      expect(await page.getByRole('navigation').isVisible()).toBe(true);
    },
  );
});
