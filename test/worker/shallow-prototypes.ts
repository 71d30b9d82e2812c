import { DurableObject } from 'cloudflare:workers';

/**
 * The pool of vitest for Workers wraps the prototype of an object's class in one more Proxy at each
 * start of an object, so that the 500th start takes 100 ms. One Proxy does what all of them do, so
 * a second one is left out.
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

// This runs before each file, and files share a runtime: the constructor is replaced once, or it
// would be wrapped once for each file.
const runtime = globalThis as typeof globalThis & { shallowProxy?: ProxyConstructor };
runtime.shallowProxy ??= shallowProxy();
globalThis.Proxy = runtime.shallowProxy;
