import { registerHooks } from 'node:module';

/** `node --import` this: the platform's own module is the simulated one from here on. */
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers'
      ? { url: new URL('./platform/platform-module.ts', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});
