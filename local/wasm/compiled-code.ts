import { readFileSync } from 'node:fs';

/**
 * Returns the code of `src/NAME.wasm`, compiled, as its import provides it in Workers. In Node the
 * import resolves to a file of this folder (`imports` of package.json).
 */
export function compiledCode(name: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(new URL(`../../src/${name}.wasm`, import.meta.url)));
}
