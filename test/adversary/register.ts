import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Registers module hooks, when loaded with `node --import`: the co-signers of the games run the
 * rounds of rounds.ts, and WebAssembly is imported as a compiled module, as on the platform.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '#cosigner/session/signing.ts' && context.parentURL?.endsWith('/test/adversary/rounds.ts') !== true
      ? { url: new URL('./rounds.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url.endsWith('.wasm') ? { format: 'module', source: compiled(url), shortCircuit: true } : next(url, context),
});

function compiled(url: string): string {
  const base64 = readFileSync(fileURLToPath(url), 'base64');
  return `export default new WebAssembly.Module(Buffer.from('${base64}', 'base64'));`;
}
