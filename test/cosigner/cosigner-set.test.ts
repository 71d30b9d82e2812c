import { streamedRequest } from './streamed-request.ts';
import { expect, test } from 'vitest';
import { serve } from '#cosigner/api/app.ts';
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
      'PEERS must not pin an exchange key of small order for 2',
    );
  }
});

test.each<[string, object, string]>([
  ['MAX_FEES that is no JSON', { MAX_FEES: 'much' }, 'MAX_FEES'],
  ['SHARES_SINCE that is no time', { SHARES_SINCE: 'yesterday' }, 'SHARES_SINCE'],
  ['SHARES_SINCE in another form', { SHARES_SINCE: '12/11/2025' }, 'SHARES_SINCE'],
  ['SHARES_SINCE in the future', { SHARES_SINCE: '2162-01-01T00:00:00Z' }, 'SHARES_SINCE'],
  ['the key of the tokens', { TOKEN_MAC_KEY: '55'.repeat(32) }, 'TOKEN_MAC_KEY'],
  ['the service keys', { SERVICE_KEY_HASHES: '55'.repeat(32) }, 'SERVICE_KEY_HASHES'],
  ['a secret of the coordinator', { COORDINATOR_SECRET: '55'.repeat(32) }, 'COORDINATOR_SECRET'],
  ['no IDENTITY_SECRET', { IDENTITY_SECRET: undefined }, 'IDENTITY_SECRET'],
  ['a line feed after its IDENTITY_SECRET', { IDENTITY_SECRET: `${SECRETS[0]}\n` }, 'IDENTITY_SECRET'],
  ['a RECOVERY_KEY that is too short', { RECOVERY_KEY: '00' }, 'RECOVERY_KEY'],
  ['a RECOVERY_KEY of small order', { RECOVERY_KEY: `01${'00'.repeat(31)}` }, 'RECOVERY_KEY'],
  ['a RECOVERY_KEY that is not canonical', { RECOVERY_KEY: 'ff'.repeat(32) }, 'RECOVERY_KEY'],
  ['another IDENTITY_SECRET than its peers have pinned', { IDENTITY_SECRET: '44'.repeat(32) }, 'PEERS'],
  ['PEERS that are no JSON', { PEERS: 'no list' }, 'PEERS'],
  ['KEY_ENCRYPTION_SECRETS that are none', { KEY_ENCRYPTION_SECRETS: '[]' }, 'KEY_ENCRYPTION_SECRETS'],
  [
    'two key-encryption secrets of one id',
    { KEY_ENCRYPTION_SECRETS: JSON.stringify(['66', '77'].map((secret) => ({ id: 'a', secret: secret.repeat(32) }))) },
    'KEY_ENCRYPTION_SECRETS',
  ],
])('a co-signer with %s answers its operator which setting is wrong', async (_what, differences, setting) => {
  const pairState = async () => ({ banned: false, setupId: null });
  const env = {
    ...settings(publicIdentity(SECRETS[1]).exchange),
    NODE: { getByName: () => ({ pairState }) } as never,
  };
  const stateWith = async (other: object) => {
    const request = streamedRequest('http://cosigner/v1/pairs/status', { method: 'POST', body: '{}' });
    return (await serve(request, { ...env, ...other })).json();
  };
  expect(await stateWith({})).toEqual({ ok: true, value: { 2: { banned: false, setupId: null } } });
  expect(await stateWith(differences)).toMatchObject({
    ok: false,
    refusal: { code: 'misconfigured', detail: setting },
  });
});

test('a co-signer whose peers share a key, or whose secret is zero, serves no request, and names the setting', async () => {
  const [one, two] = [publicIdentity(SECRETS[0]), publicIdentity(SECRETS[1])];
  const honest = settings(two.exchange);
  const zero = '00'.repeat(32);
  const peers = (second: object) => ({ PEERS: JSON.stringify({ 1: one, 2: second }) });
  for (const [differences, fault] of [
    [peers(one), 'PEERS must not have the same signing key for 1 and 2'],
    [peers({ ...two, exchange: one.exchange }), 'PEERS must not have the same exchange key for 1 and 2'],
    [{ IDENTITY_SECRET: zero }, 'IDENTITY_SECRET must be random, and not zero'],
    [{ KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'k', secret: zero }]) }, 'KEY_ENCRYPTION_SECRETS must be random'],
  ] as const) {
    await expect(loadCosignerSet({ ...honest, ...differences })).rejects.toThrow(fault);
  }
});

const KEY = '44'.repeat(32);

test.each<[string, string, string]>([
  ['PEERS', `{"1":"${KEY}`, 'PEERS must be JSON.'],
  ['PEERS', 'null', 'PEERS must name at least two co-signers'],
  ['PEERS', `{"1":null,"2":"${KEY}"}`, 'PEERS must name co-signers 1 to n with two keys each'],
  ['PEERS', `{"1":{"signing":["${KEY}"],"exchange":"${KEY}"}}`, 'PEERS must name co-signers 1 to n with two keys each'],
  ['KEY_ENCRYPTION_SECRETS', `[{"id":"a","secret":"${KEY}`, 'KEY_ENCRYPTION_SECRETS must be JSON.'],
  ['KEY_ENCRYPTION_SECRETS', `{"secret":"${KEY}"}`, 'KEY_ENCRYPTION_SECRETS must be a list of { id, secret }'],
  ['KEY_ENCRYPTION_SECRETS', `["${KEY}"]`, 'KEY_ENCRYPTION_SECRETS must be a list of { id, secret }'],
  [
    'KEY_ENCRYPTION_SECRETS',
    `[null,{"id":"a","secret":["${KEY}"]}]`,
    'KEY_ENCRYPTION_SECRETS must be a list of { id, secret }',
  ],
])('an invalid %s is refused by its name and without its content', async (name, text, message) => {
  const load = loadCosignerSet({ ...settings(publicIdentity(SECRETS[1]).exchange), [name]: text });
  await expect(load).rejects.toThrow(new Error(message));
});
