import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from './violations.ts';
import type { BrowserWorld } from '../browser-world.ts';
import { startBrowserWorld } from '../browser-world.ts';
import { chromiumHere } from '../chromium.ts';
import { layoutFaultsOf } from './layout-faults.ts';
import type { StatedPage } from './page-states.ts';
import { closeStated, openStated, statedPages } from './page-states.ts';

const executable = chromiumHere();

/** Covers that a person can read each page in each state, also with a screen reader. */
describe.skipIf(executable === null)('each page in each state', () => {
  let scene: BrowserWorld;
  let pages: readonly StatedPage[];
  beforeAll(async () => {
    scene = await startBrowserWorld(executable ?? '');
    pages = await statedPages(scene);
  });
  afterAll(() => scene.end());

  test.each([
    ['light', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const)('is whole and accessible, %s', async (colorScheme, viewport) => {
    const faults: string[] = [];
    for (const person of new Set(pages.map((one) => one.person))) {
      const { page } = await scene.pageOf(person, { colorScheme, viewport, bypassCSP: true });
      for (const one of pages.filter((of) => of.person === person)) {
        await openStated(page, scene.url, one);
        const found = [...(await layoutFaultsOf(page)), ...(await violationsOf(page))];
        faults.push(...found.map((fault) => `${one.name}, ${one.state}: ${fault}`));
        await closeStated(page);
      }
    }
    expect(faults).toEqual([]);
  });
});
