import { registerHooks } from 'node:module';

/** Modules of the co-signer, and what the co-signers of the games run in their place. */
const REPLACED: Readonly<Record<string, URL>> = {
  '#cosigner/session/signing.ts': new URL('./rounds.ts', import.meta.url),
  '#cosigner/key/dealing.ts': new URL('./dealing.ts', import.meta.url),
};

/**
 * Registers a module hook, when loaded with `node --import`: the co-signers of the games run rounds
 * without their mathematics.
 */
registerHooks({
  resolve: (specifier, context, next) => {
    const url = REPLACED[specifier]?.href;
    return url === undefined || context.parentURL === url ? next(specifier, context) : { url, shortCircuit: true };
  },
});
