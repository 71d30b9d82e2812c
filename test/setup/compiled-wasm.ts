import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vitest/config';

/** What a `.wasm` file is imported for in Workers: the module, compiled and without an instance. */
export const compiledWasm: Plugin = {
  name: 'compiled-wasm',
  enforce: 'pre',
  load: async (id) => {
    if (!id.endsWith('.wasm')) return null;
    const text = await readFile(id, 'base64');
    return `export default new WebAssembly.Module(Buffer.from('${text}', 'base64'));`;
  },
};
