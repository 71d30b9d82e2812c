import { execFileSync } from 'node:child_process';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

/** The names of the complete browser: in Debian, and in other distributions. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The name of the same engine without windows. It needs half the CPU, and displays no
 * notifications.
 */
const HEADLESS_SHELL = 'chromium-headless-shell';

/**
 * Returns the path of the Chromium for most tests: CHROMIUM, else the headless shell, else the
 * complete browser. Returns null where none is installed.
 */
export function chromiumHere(): string | null {
  return executableOf([HEADLESS_SHELL, ...BROWSERS]);
}

/**
 * Returns the path of a complete Chromium: CHROMIUM, else the first installed name. Returns null
 * where none is installed.
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
      // This name is not installed, so the next one is tried.
    }
  }
  return null;
}

/**
 * How long a step of a page may take, in milliseconds. It ends a test that hangs. A busy machine
 * takes ten times longer than a quiet one, so it is long.
 */
export const PATIENCE_MS = 120_000;

/** Opens a browser context whose steps may take that long. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/**
 * Returns the console messages of a page and its violations of the content security policy. Tests
 * expect none. A refused stream of events is none: pages of one session share four streams, and on
 * a busy machine those of closed pages end later. The page connects again
 * (shell/session-limits.test.ts).
 */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    const [address = ''] = message.location().url.split('?');
    if (message.text().includes('429') && address.endsWith('/events')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

/** Logs a person in through the local issuer, in a browser of that person alone. */
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
