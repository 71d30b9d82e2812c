import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plugin } from 'vitest/config';

const PLATFORM_MODULE = resolve(import.meta.dirname, '../simulation/platform/platform-module.ts');

/**
 * Provides in Node what Workers have: `.wasm` imports as compiled modules without an instance, and
 * the platform's own module.
 */
export const workersInNode: Plugin = {
  name: 'workers-in-node',
  enforce: 'pre',
  resolveId: (id) => (id === 'cloudflare:workers' ? PLATFORM_MODULE : null),
  load: async (id) => {
    if (!id.endsWith('.wasm')) return null;
    const text = await readFile(id, 'base64');
    return `export default new WebAssembly.Module(Buffer.from('${text}', 'base64'));`;
  },
};
