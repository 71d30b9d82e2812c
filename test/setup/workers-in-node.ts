import { resolve } from 'node:path';
import type { Plugin } from 'vitest/config';

const PLATFORM_MODULE = resolve(import.meta.dirname, '../simulation/platform/platform-module.ts');

/** Provides the platform's own module in Node. */
export const workersInNode: Plugin = {
  name: 'workers-in-node',
  enforce: 'pre',
  resolveId: (id) => (id === 'cloudflare:workers' ? PLATFORM_MODULE : null),
};
