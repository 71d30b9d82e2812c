import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import type { BrowserContext, ConsoleMessage } from 'playwright-core';
import { startLoginWorld } from '../../e2e/login-world.ts';
import { launch, logIn, openContext, wholeChromiumHere } from '../chromium.ts';
import type { StatedPage } from './page-states.ts';
import { statedPages } from './page-states.ts';

/**
 * `npm run bench:pages` opens each page of the dashboard as a phone on a slow network does, with an
 * empty cache, and prints what a person waits for. It ends with 1 when a page misses a limit.
 */

/** A phone of the middle class: a fourth of this CPU, 1.6 Mbit/s, and 150 ms to the service. */
const CPU_FACTOR = 4;
const BYTES_PER_SECOND = 1_600_000 / 8;
const LATENCY_MS = 150;
const VIEWPORT = { width: 390, height: 844 };
const RUNS = 3;

/** The limits: seconds to the first content and to the complete page, and the layout shift. */
const LIMITS = { firstContent: 1, usable: 2, shift: 0.05, scriptKb: 60 };

interface Figures {
  readonly firstContent: number;
  readonly usable: number;
  readonly shift: number;
  readonly scriptKb: number;
  /** Paths that were requested twice: no part used the early request (`LATER`, vite.config.ts). */
  readonly repeated: readonly string[];
}

/** Compresses the answers of the service, as Cloudflare does in front of it. */
async function compressingProxy(): Promise<{
  readonly server: Server;
  readonly url: string;
  readonly serve: (url: string) => void;
}> {
  let target = '';
  const forward = (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method, headers } = incoming;
    const upstream = request(`${target}${incoming.url ?? '/'}`, { method, headers }, (response) => {
      const type = response.headers['content-type'] ?? '';
      const isText = /json|javascript|css|html|svg/.test(type) && !type.includes('event-stream');
      const { 'content-length': _length, ...kept } = response.headers;
      const sent = isText ? { ...kept, 'content-encoding': 'gzip' } : response.headers;
      answer.writeHead(response.statusCode ?? 502, sent);
      if (isText) response.pipe(createGzip({ level: 9 })).pipe(answer);
      else response.pipe(answer);
    });
    upstream.on('error', () => answer.destroy());
    // A page that closes ends its streams; the service allows a session few.
    answer.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    serve: (url) => {
      target = url;
    },
  };
}

/** Opens a page once, in a context with an empty cache. */
async function measured(context: BrowserContext, url: string): Promise<Figures> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_FACTOR });
  await session.send('Network.enable');
  const network = {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  };
  await session.send('Network.emulateNetworkConditions', network);
  await page.addInitScript(reportFigures);
  // Any other access to the page compiles the script of Playwright in it, on the slow CPU.
  const isReport = (message: ConsoleMessage) => message.type() === 'debug';
  const [report] = await Promise.all([page.waitForEvent('console', isReport), page.goto(url)]);
  const figures: Figures = JSON.parse(report.text());
  await page.close();
  return figures;
}

/** Runs in the page: writes its figures to the console when it was complete for a second. */
function reportFigures(): void {
  let shift = 0;
  let usable = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shift += (entry as unknown as { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
  const report = () => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    const files = performance.getEntriesByType('resource') as unknown as { name: string; encodedBodySize: number }[];
    const scriptBytes = files
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    const paths = files.map(({ name }) => name.slice(location.origin.length));
    const figures: Figures = {
      firstContent: (paint?.startTime ?? 0) / 1000,
      usable: usable / 1000,
      shift,
      scriptKb: scriptBytes / 1000,
      repeated: paths.filter((path, i) => paths.indexOf(path) < i),
    };
    console.debug(JSON.stringify(figures));
  };
  const poll = () => {
    const isWhole = document.querySelector('h1') !== null && document.querySelector('.loading') === null;
    // A part that loads after the others makes the page incomplete again.
    if (!isWhole) usable = 0;
    else if (usable === 0) usable = performance.now();
    else if (performance.now() - usable > 1_000) {
      report();
      return;
    }
    requestAnimationFrame(poll);
  };
  requestAnimationFrame(poll);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function medianOf(runs: readonly Figures[]): Figures {
  const of = (name: Exclude<keyof Figures, 'repeated'>) => median(runs.map((run) => run[name]));
  return {
    firstContent: of('firstContent'),
    usable: of('usable'),
    shift: of('shift'),
    scriptKb: of('scriptKb'),
    repeated: [...new Set(runs.flatMap(({ repeated }) => repeated))],
  };
}

const executable = wholeChromiumHere();
if (executable === null) throw new Error('there is no Chromium here; CHROMIUM names one');
const proxy = await compressingProxy();
const { world, end } = await startLoginWorld((url) => {
  proxy.serve(url);
  return proxy.url;
});
const browser = await launch(executable);
try {
  const vault = await world.vault('treasury');
  const pages = (await statedPages({ world, vault })).filter(({ state }) => state === 'full' || state === 'pending');
  const rows = new Map<StatedPage, Figures[]>();
  const states = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();
  for (const person of new Set(pages.map((one) => one.person))) {
    const entrance = await openContext(browser);
    await logIn(entrance, proxy.url, person);
    states.set(person, await entrance.storageState());
    await entrance.close();
  }
  for (let run = 0; run < RUNS; run++) {
    for (const one of pages) {
      const storageState = states.get(one.person);
      const context = await openContext(browser, {
        viewport: VIEWPORT,
        ...(storageState === undefined ? {} : { storageState }),
      });
      rows.set(one, [...(rows.get(one) ?? []), await measured(context, `${proxy.url}/#${one.path}`)]);
      await context.close();
    }
  }
  console.log(`CPU / ${CPU_FACTOR}, 1.6 Mbit/s, ${LATENCY_MS} ms, an empty cache; the median of ${RUNS}\n`);
  console.log('| page | first content (s) | usable (s) | layout shift | script (kB) |\n|---|---|---|---|---|');
  for (const [{ name, state }, runs] of rows) {
    const figures = medianOf(runs);
    const missed = (['firstContent', 'usable', 'shift'] as const).filter((limit) => figures[limit] > LIMITS[limit]);
    // The first page has a limit of its own; another one loads more when it opens.
    if (name === 'home' && figures.scriptKb > LIMITS.scriptKb) process.exitCode = 1;
    const { firstContent, usable, shift, scriptKb, repeated } = figures;
    const cells = [firstContent.toFixed(2), usable.toFixed(2), shift.toFixed(3), scriptKb.toFixed(0)];
    const faults = [...missed.map((limit) => ` misses ${limit}`), ...repeated.map((path) => ` requests ${path} twice`)];
    if (faults.length > 0) process.exitCode = 1;
    console.log(`| ${name}, ${state} | ${cells.join(' | ')} |${faults.join(',')}`);
  }
} finally {
  await browser.close();
  proxy.server.close();
  proxy.server.closeAllConnections();
  await end();
}
