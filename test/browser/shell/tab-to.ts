import type { Locator, Page } from 'playwright-core';

/** More elements than any page has between two that a test uses. */
const MAX_STEPS = 120;

/** Presses Tab until this element has the focus. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let i = 0; i < MAX_STEPS; i += 1) {
    await page.keyboard.press('Tab');
    if (await element.evaluate((one) => one === document.activeElement)) return;
  }
  throw new Error(`Tab does not reach ${String(element)}.`);
}
