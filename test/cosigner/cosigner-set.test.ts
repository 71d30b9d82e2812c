import { expect, test } from 'vitest';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import { publicIdentity } from '#mpc/identity.ts';

const SECRETS = ['11'.repeat(32), '22'.repeat(32)] as const;

/** The settings of co-signer 1 of two, which has pinned this exchange key for the other one. */
function settings(exchange: string) {
  const peers = { 1: publicIdentity(SECRETS[0]), 2: { ...publicIdentity(SECRETS[1]), exchange } };
  return {
    NODE: null as never,
    NODE_INDEX: '1',
    PEERS: JSON.stringify(peers),
    IDENTITY_SECRET: SECRETS[0],
    KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'test', secret: '33'.repeat(32) }]),
  };
}

test('a co-signer with an exchange key of small order among its peers serves nothing', async () => {
  expect((await loadCosignerSet(settings(publicIdentity(SECRETS[1]).exchange))).parties).toEqual([1, 2]);
  for (const exchange of ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`]) {
    await expect(loadCosignerSet(settings(exchange))).rejects.toThrow(
      'PEERS pins an exchange key of small order for 2',
    );
  }
});
