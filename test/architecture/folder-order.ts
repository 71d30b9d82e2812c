import type { SourceFile } from './house.ts';
import { importsOf } from './imports.ts';

/**
 * The folders of a room, from the lowest. A file may import from its own folder and from lower
 * ones. The empty name is the top of the room. A room that is not listed has no folders, or they
 * have no order.
 */
const FOLDER_ORDERS: Readonly<Record<string, readonly string[]>> = {
  domain: [
    '',
    'json',
    'asset',
    'canonical',
    'access',
    'policy',
    'transaction',
    'wallet',
    'vault',
    'activity',
    'operations',
  ],
  mpc: ['', 'derivation', 'keygen', 'recovery', 'wasm', 'frost', 'ecdsa'],
  chains: [
    '',
    // Co-signers and pages import rules without clients: code that checks bytes calls no RPC node.
    'evm/rules',
    'solana/rules',
    'bitcoin/rules',
    'families',
    'inspect',
    'rpc',
    ...['evm', 'solana', 'bitcoin'].flatMap((family) => [`${family}/client`, `${family}/watch`, family]),
    'clients',
  ],
  objects: [
    '',
    'vault/documents',
    'vault/tables',
    'vault',
    'vault/writes',
    'vault/commands',
    'vault/doors',
    'token',
    'person',
    'wallet-nonce',
    'bindings',
  ],
  cosigner: ['', 'tables', 'policy', 'session', 'key', 'api'],
  http: [
    'encode',
    'edge/body',
    'edge',
    'transaction',
    'vault',
    'vault/credential-reset',
    'vault/policy-change',
    'vault/reprocess',
    'vault/utxo',
    'personal-access-token',
    'push-subscription',
    'session',
    'vault/member',
    'user',
    'login',
    'webhook',
    'internal',
    '',
  ],
};

/** Returns the imports of a file from folders of its room that are not below its own. */
export function foldersInOrder({ path, text }: SourceFile): readonly string[] {
  const [, room = '', folder = ''] = /^src\/([a-z-]+)\/(?:(.*)\/)?[^/]+$/.exec(path) ?? [];
  const order = FOLDER_ORDERS[room];
  if (order === undefined) return [];
  const own = order.indexOf(folder);
  if (own === -1) return [`is in ${room}/${folder}, which has no position in the order of the room`];
  return importsOf(text).flatMap((target) => {
    const [, other, at = ''] = /^#([a-z-]+)\/(?:(.*)\/)?[^/]+$/.exec(target) ?? [];
    return other !== room || order.indexOf(at) <= own ? [] : [`imports ${target}, which is not below it`];
  });
}
