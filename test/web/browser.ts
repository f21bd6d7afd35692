/**
 * Controls Debian's Chromium for the tests of the console.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Stage } from '../http/stage.ts';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export function openBrowser(): Promise<Browser> {
  const executablePath = PROGRAMS.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error(`There is no Chromium at ${PROGRAMS.join(' or ')}`);
  // As root, Chromium cannot use its sandbox; it loads only our own pages here.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}

export interface Opened extends AsyncDisposable {
  page: Page;
  /** Script errors and violations of the content security policy. */
  faults: string[];
}

export interface OpenOptions {
  stage: Stage;
  /** Name of the token to sign in with; absent for none. */
  as?: string;
  /** The page to open, such as `/skills/test/echo`. */
  at?: string;
  width?: number;
}

export async function openPage(
  browser: Browser,
  { stage, as, at, width = 1100 }: OpenOptions,
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      faults.push(message.text());
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const token = as === undefined ? '' : stage.tokens[as];
  // Opens the page directly, because the start page would load every skill.
  if (at !== undefined) await page.addInitScript(`sessionStorage.setItem('skillcell-token', '${token}')`);
  await page.goto(`${stage.url}/#${at ?? (token ? `token=${token}` : '')}`);
  await page.waitForSelector(at === undefined ? 'h1' : 'main h1');
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}
