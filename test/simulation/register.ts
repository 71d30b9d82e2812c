import { registerHooks } from 'node:module';

/** Replaces the platform's module by the simulated one, when loaded with `node --import`. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: new URL('./platform/platform-module.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
