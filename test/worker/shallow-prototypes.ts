import { DurableObject } from 'cloudflare:workers';

/**
 * The Workers pool of vitest wraps the prototype of an object's class in one more Proxy at each
 * start of an object, so that the 500th start takes 100 ms. One Proxy has the same effect as all of
 * them, so this file leaves out all others.
 */
function shallowProxy(): ProxyConstructor {
  const wrapped = new WeakSet<object>();
  return new Proxy(Proxy, {
    construct: (original, parameters: [target: object, handler: ProxyHandler<object>], newTarget) => {
      const [target] = parameters;
      if (wrapped.has(target)) return target;
      const proxy = Reflect.construct(original, parameters, newTarget) as object;
      if (Object.prototype.isPrototypeOf.call(DurableObject.prototype, target)) wrapped.add(proxy);
      return proxy;
    },
  });
}

// This code runs before each file, and files share a runtime. The constructor is replaced only
// once.
const runtime = globalThis as typeof globalThis & { shallowProxy?: ProxyConstructor };
runtime.shallowProxy ??= shallowProxy();
globalThis.Proxy = runtime.shallowProxy;
