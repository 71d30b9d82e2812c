import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The part of a violation of axe that names it. */
interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/**
 * Returns the accessibility violations of the open page (axe, WCAG 2.2 AA). The context of the page
 * bypasses its content security policy.
 */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as { axe: { run: (options: object) => Promise<{ violations: Violation[] }> } };
    return (await axe.run({ runOnly })).violations.map(({ id, nodes }) => ({ id, html: nodes[0]?.html ?? '' }));
  }, RULES);
  return violations.map(({ id, html }) => `${id}: ${html.slice(0, 200)}`);
}
