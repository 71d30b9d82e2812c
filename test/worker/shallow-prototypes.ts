import { DurableObject } from 'cloudflare:workers';

/**
 * The pool of vitest for Workers wraps the prototype of an object's class in one more Proxy at each start of an object, so that the 500th start takes
 * 100 ms. One Proxy does what all of them do, so a second one is left out.
 */
const wrapped = new WeakSet<object>();

globalThis.Proxy = new Proxy(Proxy, {
  construct: (original, parameters: [target: object, handler: ProxyHandler<object>], newTarget) => {
    const [target] = parameters;
    if (wrapped.has(target)) return target;
    const proxy = Reflect.construct(original, parameters, newTarget) as object;
    if (Object.prototype.isPrototypeOf.call(DurableObject.prototype, target)) wrapped.add(proxy);
    return proxy;
  },
});
