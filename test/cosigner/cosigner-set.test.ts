import { expect, test } from 'vitest';
import { serve } from '#cosigner/app.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import { publicIdentity } from '#mpc/identity.ts';

const SECRETS = ['11'.repeat(32), '22'.repeat(32)] as const;

/**
 * Returns the settings of co-signer 1 of two, which has pinned this exchange key for co-signer 2.
 */
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

test('a co-signer that has pinned a peer with an exchange key of small order serves no request', async () => {
  expect((await loadCosignerSet(settings(publicIdentity(SECRETS[1]).exchange))).parties).toEqual([1, 2]);
  for (const exchange of ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`]) {
    await expect(loadCosignerSet(settings(exchange))).rejects.toThrow(
      'PEERS pins an exchange key of small order for 2',
    );
  }
});

test.each<[string, object]>([
  ['MAX_FEES that is no JSON', { MAX_FEES: 'much' }],
  ['SHARES_SINCE that is no time', { SHARES_SINCE: 'yesterday' }],
  ['a RECOVERY_KEY that is too short', { RECOVERY_KEY: '00' }],
  ['another IDENTITY_SECRET than its peers have pinned', { IDENTITY_SECRET: '44'.repeat(32) }],
  ['KEY_ENCRYPTION_SECRETS that are none', { KEY_ENCRYPTION_SECRETS: '[]' }],
])('a co-signer with %s answers its operator that it is misconfigured', async (_what, differences) => {
  const pairState = async () => ({ banned: false, setupId: null });
  const env = {
    ...settings(publicIdentity(SECRETS[1]).exchange),
    NODE: { getByName: () => ({ pairState }) } as never,
  };
  const stateWith = async (other: object) => {
    const request = new Request('http://cosigner/v1/pairs/status', { method: 'POST', body: '{}' });
    return (await serve(request, { ...env, ...other })).json();
  };
  expect(await stateWith({})).toEqual({ ok: true, value: { 2: { banned: false, setupId: null } } });
  expect(await stateWith(differences)).toMatchObject({ ok: false, refusal: { code: 'misconfigured', detail: null } });
});
