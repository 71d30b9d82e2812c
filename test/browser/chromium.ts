import { execFileSync } from 'node:child_process';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

/** The names of the whole browser: Debian's, and those of others. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'];

/** The same engine without a window, for half the CPU. It displays no notifications. */
const HEADLESS_SHELL = 'chromium-headless-shell';

/**
 * Returns the path of the Chromium for most tests: CHROMIUM, else the headless shell, else the
 * whole browser. Null where there is none.
 */
export function chromiumHere(): string | null {
  return executableOf([HEADLESS_SHELL, ...BROWSERS]);
}

/**
 * Returns the path of a Chromium with all its parts: CHROMIUM, else the first by name. Null where
 * there is none.
 */
export function wholeChromiumHere(): string | null {
  return executableOf(BROWSERS);
}

function executableOf(names: readonly string[]): string | null {
  const { CHROMIUM } = process.env;
  if (CHROMIUM !== undefined && CHROMIUM !== '') return CHROMIUM;
  for (const name of names) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next name.
    }
  }
  return null;
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/**
 * The messages of a page on its console, and its violations of the content security policy: none is
 * expected.
 */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

/** Logs a person in, in a browser of their own, with the local issuer. */
export async function logIn(context: BrowserContext, url: string, name: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/`);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.locator('input[name="login"]').fill(name);
  await page.locator('input[name="password"]').fill('any');
  await page.locator('button[type="submit"]').click();
  await page.locator('button[type="submit"]').click();
  await page.getByRole('heading', { name: 'Vaults' }).waitFor();
  return page;
}
