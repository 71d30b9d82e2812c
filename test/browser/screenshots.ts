import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startLoginWorld } from '../e2e/login-world.ts';
import { wholeChromiumHere, launch, logIn, openContext } from './chromium.ts';
import { layoutFaultsOf } from './shell/layout-faults.ts';
import { closeStated, openStated, statedPages } from './shell/page-states.ts';

/**
 * `npm run screenshots` captures every page of the dashboard in every state, light and dark, at
 * desktop and phone sizes, for review: `NAME-STATE-SCHEME-DEVICE.png`. It ends with 1 when a
 * picture has a fault of the layout.
 */

const FOLDER = resolve(import.meta.dirname, '..', '..', 'dist', 'screenshots');
const VIEWPORTS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

const executable = wholeChromiumHere();
if (executable === null) throw new Error('there is no Chromium here; CHROMIUM names one');
await rm(FOLDER, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const { world, url, end } = await startLoginWorld();
const browser = await launch(executable);
const faults: string[] = [];
try {
  const pages = await statedPages({ world, vault: await world.vault('treasury') });
  for (const person of new Set(pages.map((one) => one.person))) {
    const entrance = await openContext(browser);
    await logIn(entrance, url, person);
    const storageState = await entrance.storageState();
    await entrance.close();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [device, viewport] of Object.entries(VIEWPORTS)) {
        const context = await openContext(browser, { colorScheme, viewport, storageState });
        const page = await context.newPage();
        for (const one of pages.filter((of) => of.person === person)) {
          await openStated(page, url, one);
          const name = `${one.name}-${one.state}-${colorScheme}-${device}`;
          await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
          faults.push(...(await layoutFaultsOf(page)).map((fault) => `${name}: ${fault}`));
          await closeStated(page);
        }
        await context.close();
      }
    }
  }
} finally {
  await browser.close();
  await end();
}
console.log([FOLDER, ...faults].join('\n'));
if (faults.length > 0) process.exitCode = 1;
