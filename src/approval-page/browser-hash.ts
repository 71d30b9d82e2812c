import { sha256 } from '@noble/hashes/sha2.js';

/**
 * Stands in for `createHash` of `node:crypto` in this page (vite.config.ts). The Workers hash long
 * inputs with the native code of their runtime. A browser has no such module.
 */
export const createHash = (_algorithm: 'sha256') => sha256.create();
