import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Modules of the co-signer, and what the co-signers of the games run in their place. */
const REPLACED: Readonly<Record<string, URL>> = {
  '#cosigner/session/signing.ts': new URL('./rounds.ts', import.meta.url),
  '#cosigner/key/dealing.ts': new URL('./dealing.ts', import.meta.url),
};

/**
 * Registers module hooks, when loaded with `node --import`: the co-signers of the games run rounds
 * without their mathematics, and WebAssembly is imported as a compiled module, as on the platform.
 */
registerHooks({
  resolve: (specifier, context, next) => {
    const url = REPLACED[specifier]?.href;
    return url === undefined || context.parentURL === url ? next(specifier, context) : { url, shortCircuit: true };
  },
  load: (url, context, next) =>
    url.endsWith('.wasm') ? { format: 'module', source: compiled(url), shortCircuit: true } : next(url, context),
});

function compiled(url: string): string {
  const base64 = readFileSync(fileURLToPath(url), 'base64');
  return `export default new WebAssembly.Module(Buffer.from('${base64}', 'base64'));`;
}
