import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { coordinator } from './scene.worker.ts';

/** Service keys of the tests, and the bindings of a coordinator that has them. */

interface TestKey {
  readonly key: string;
  readonly scopes: readonly string[];
  readonly addresses?: readonly string[];
}

export function hashOf(key: string): string {
  return bytesToHex(sha256(utf8ToBytes(key)));
}

/** Returns the bindings of a coordinator that admits these service keys alone. */
export function withServiceKeys(keys: readonly TestKey[]): CoordinatorEnv {
  const entries = keys.map(({ key, ...rest }) => ({ hash: hashOf(key), ...rest }));
  return { ...coordinator, SERVICE_KEY_HASHES: JSON.stringify(entries) };
}
