import type { Route } from '#http/edge/route.ts';
import { ROUTES } from '#http/routes.ts';
import type { Chance } from './garbage.ts';
import { pick } from './garbage.ts';

const RECIPIENT = '0x2222222222222222222222222222222222222222';

/** The routes of persons. The service key and the monitors have tests of their own. */
export const FUZZED_ROUTES: readonly Route[] = ROUTES.filter(
  ({ access }) => access !== 'service' && access !== 'monitor',
);

/**
 * A signature of a device that does not exist. It is refused, whether or not the policy requires a
 * device signature.
 */
const SIGNATURE = { keyId: `dev_${'0'.repeat(32)}`, signature: 'A'.repeat(86) };

/** Returns a valid body for a route that takes one or none. */
export function optionalBodies(chance: Chance, path: string): Readonly<Record<string, unknown>> {
  if (path.endsWith('/renewal')) return { note: 'Away for too long' };
  if (path === '/transaction/:txId/reject') return { reason: 'Paid before' };
  if (!path.endsWith('/reject')) return SIGNATURE;
  return pick(chance, [SIGNATURE, { reason: 'Too low' }, { ...SIGNATURE, reason: 'Too low' }]);
}

interface Vaults {
  readonly vaultId: number;
  readonly strangeVaultId: number;
}

/** Returns a valid body for each route that requires one, by path. */
export function bodies(chance: Chance, world: Vaults): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const vaultId = pick(chance, [world.vaultId, world.vaultId, world.vaultId, world.strangeVaultId, 999_999]);
  const position = { vaultId, chain: 'anvil', note: 'fuzz' };
  const maxFee = pick(chance, [null, '0', '1', '50000000000000000', '50000000000000001', `${2n ** 256n}`]);
  const utxo = {
    chain: pick(chance, ['bitcoin-regtest', 'bitcoin', 'anvil']),
    txid: 'ab'.repeat(32),
    vout: pick(chance, [0, 1]),
  };
  return {
    '/transaction/estimate-fee': { vaultId, chain: 'anvil', to: RECIPIENT, amount: '1' },
    '/transaction/transfer': {
      ...position,
      to: RECIPIENT,
      amount: '1',
      tokenAddress: null,
      memo: null,
      recipientMayHaveNoKey: false,
      recipientIsToken: false,
      maxTokenFee: null,
      maxFee,
    },
    '/transaction/message': {
      ...position,
      message: pick(chance, ['hello', '0xdeadbeef']),
      encoding: pick(chance, ['text', 'hex']),
      acceptForeignChainId: pick(chance, [null, '1337']),
    },
    '/transaction/contract-interaction': { ...position, to: RECIPIENT, data: '0xd0e30db0', value: '0', maxFee },
    '/transaction/erc20-approve': { ...position, tokenAddress: RECIPIENT, spender: RECIPIENT, amount: '1', maxFee },
    '/transaction/:txId/visibility': { visible: chance() < 0.5 },
    '/vault/:vaultId/consolidate': {
      chain: pick(chance, ['bitcoin-regtest', 'bitcoin', 'anvil']),
      coins: 3,
      maxFee,
      note: 'fuzz',
    },
    '/vault/:vaultId/utxos/lock': utxo,
    '/vault/:vaultId/utxos/unlock': utxo,
    '/vault/:vaultId/policy-change': {
      threshold: pick(chance, [1, 2, 3, 4]),
      approvalMode: chance() < 0.9 ? 'token' : 'device',
      removeDevices: chance() < 0.9 ? [] : [SIGNATURE.keyId],
      recipients: pick(chance, ['anyone', 'address-book']),
      addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }],
      limits: [{ chain: 'anvil', tokenAddress: null, perTransaction: '5', perDay: null }],
      higherThresholds: [{ chain: 'anvil', tokenAddress: RECIPIENT, above: '9', threshold: 2 }],
      unreadableThreshold: pick(chance, [null, 1, 3]),
      tokens: [{ chain: 'anvil', tokenAddress: RECIPIENT, symbol: 'FUZZ', decimals: pick(chance, [0, 6, 99]) }],
    },
    '/vault/:vaultId/policy-comparison': pick(chance, [
      { patch: { threshold: pick(chance, [1, 2, 3, 4]) } },
      {
        patch: { recipients: 'address-book', addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }] },
      },
      { changeId: `pch_${'0'.repeat(26)}` },
    ]),
    '/push-subscription': {
      endpoint: 'https://fcm.googleapis.com/fcm/send/fuzz',
      keys: { p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) },
    },
    '/user/me/notifications/read': { until: '2026-11-29T10:00:00.000Z' },
    '/personal-access-token/:id': { name: 'fuzzed', enabled: chance() < 0.5 },
    '/session/access-token': { name: 'fuzzed', expiresAt: null },
    '/vault/:vaultId/credential-reset/:resetId/cancel-by-device': {
      keyId: `dev_${'0'.repeat(32)}`,
      signature: 'A'.repeat(86),
    },
  };
}
