import { recoverTransactionAddress } from 'viem';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { proofFault } from '#jobs/keys/prove-key.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { generateKey } from '../key/generate-key.ts';
import { refused } from '#domain/result.ts';
import { policy } from '../../domain/cast.ts';
import { party } from '../../mpc/dealt-key.ts';
import type { Cosigners } from '../cosigners.ts';
import { anvilRules, approvedTransfer, attemptOf, inVault, newKey, startCosigners } from '../cosigners.ts';
import { epochsOf, RefreshRun } from '../key/refresh-scene.ts';

/** Tests five co-signers, and keys with thresholds from three to five. */

let cosigners: Cosigners;

beforeAll(async () => {
  cosigners = await startCosigners(5);
});
afterAll(() => cosigners.stop());

/**
 * The key that the signing tests share, because a key generation takes two seconds. Each test has a
 * transaction of its own.
 */
let shared: Promise<VaultKey> | null = null;
const keyOfThree = () => (shared ??= keyOf(3));

/** The policy of a vault in which this many co-signers sign together. */
const policyOf = (signingThreshold: number): Policy => inVault(100 + signingThreshold, { ...policy, signingThreshold });
const keyOf = (threshold: number) => newKey(cosigners.all, { governedBy: policyOf(threshold) });
const transferBy = (key: VaultKey, threshold: number, terms: { readonly nonce?: bigint } = {}) => {
  const governedBy = policyOf(threshold);
  const policies = [{ policy: governedBy, mandate: null }];
  return { ...approvedTransfer({ key, governedBy, ...terms }), policies };
};

test.each([3, 4, 5])(
  'an ECDSA key with threshold %i of five is used by any group of that size, and by no smaller group',
  async (threshold) => {
    // Key generation includes a test signature by every group that can sign.
    const key = threshold === 3 ? await keyOfThree() : await keyOf(threshold);
    const request = transferBy(key, threshold);
    const last = cosigners.all.slice(-threshold);
    const outcome = await thresholdSign(last, request);
    if (!outcome.ok) throw new Error(outcome.reason);
    const assembled = anvilRules.assemble(request.intent, request.attempt, outcome.signatures);
    if (!assembled.ok) throw new Error(assembled.refusal.detail);
    const serializedTransaction = `0x${assembled.value.raw.replace(/^0x/, '')}` as `0x02${string}`;
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(key.addresses['anvil']);
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const fewer = {
      ...request,
      policies: [{ policy: { ...policyOf(threshold), signingThreshold: threshold - 1 }, mandate: null }],
    };
    expect(await thresholdSign(cosigners.all, fewer)).toMatchObject({ ok: false });
    said.mockRestore();
  },
);

test.each<[KeyScheme, number]>([
  ['frost-ed25519', 3],
  ['frost-ed25519', 4],
  ['frost-ed25519', 5],
  ['frost-secp256k1-tr', 3],
  ['frost-secp256k1-tr', 5],
])('a %s key with threshold %i is used by every group of that size', async (scheme, threshold) => {
  const made = await generateKey(cosigners.all, {
    scheme,
    policies: [{ policy: policyOf(threshold), mandate: null }],
  });
  if (!made.ok) throw new Error(made.refusal.reason);
  expect(Object.keys(made.value.publicShares)).toEqual(['1', '2', '3', '4', '5']);
  for (const group of signerGroups(cosigners.all, threshold)) {
    const fault = await proofFault(group, { ...made.value, threshold, epoch: 1 });
    expect([group.map(({ index }) => index), fault]).toEqual([group.map(({ index }) => index), null]);
  }
});

test('a key with which two groups without a common member could sign is not generated', async () => {
  for (const threshold of [1, 2, 6]) {
    const made = await generateKey(cosigners.all, {
      scheme: 'frost-ed25519',
      policies: [{ policy: policyOf(threshold), mandate: null }],
    });
    expect([threshold, made.ok, made.ok ? '' : made.refusal.reason]).toEqual([
      threshold,
      false,
      expect.stringContaining('malformed'),
    ]);
  }
});

test('an intent that one group has signed is not signed by another group with other bytes, as they share a member', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const key = await keyOfThree();
  const request = transferBy(key, 3, { nonce: 4n });
  expect(await thresholdSign(cosigners.all.slice(0, 3), request)).toMatchObject({ ok: true });
  const attempt = attemptOf(request.intent, { nonce: 5n });
  for (const group of signerGroups(cosigners.all, 3)) {
    const again = await thresholdSign(group, { ...request, attempt });
    expect([group.map(({ index }) => index), again.ok]).toEqual([group.map(({ index }) => index), false]);
  }
  vi.restoreAllMocks();
});

/** Returns a co-signer that refuses every opening with this code. */
function saying(index: number, code: string): CosignerClient {
  const cosigner = party(index);
  return { index: cosigner, call: async () => refused({ cosigner, code, detail: null, culprit: null }) };
}

test('a minority that refuses or does not answer cannot prevent a signature, and is named in the log', async () => {
  const key = await keyOfThree();
  const request = transferBy(key, 3);
  for (const code of ['not-enough-approvals', 'second-digest', 'payload-refused', 'nonsense', 'unreachable']) {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    const crew = [saying(1, code), saying(2, code), ...cosigners.all.slice(2)];
    expect([code, (await thresholdSign(crew, request)).ok]).toEqual([code, true]);
    const named = said.mock.calls.map(([line]) => JSON.parse(String(line)) as { event: string; cosigner: number });
    expect(named.every(({ event }) => event === 'cosigner-fault')).toBe(true);
    expect(named.map(({ cosigner }) => cosigner)).toContain(1);
    said.mockRestore();
  }
});

test('a co-signer that always reports missing policies is in one group only, so it does not use up the calls', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const key = await keyOfThree();
  // Co-signer 3 is in the first group, whichever others an earlier test has made unreachable.
  const liar = saying(3, 'policy-behind');
  const calls: (string | undefined)[] = [];
  const call: CosignerClient['call'] = async (path, body) => {
    calls.push(path.split('/').at(-1));
    return liar.call(path, body);
  };
  const crew = cosigners.all.map((cosigner) => (cosigner.index === liar.index ? { ...liar, call } : cosigner));
  expect(await thresholdSign(crew, transferBy(key, 3))).toMatchObject({ ok: true });
  expect(calls).toEqual(['open', 'attest', 'policy']);
  said.mockRestore();
});

test('a transaction is refused when every group refuses, and waits when others are only unreachable', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const key = await keyOfThree();
  const request = transferBy(key, 3);
  const judges = [1, 2, 3].map((index) => saying(index, 'not-enough-approvals'));
  expect(await thresholdSign([...judges, ...cosigners.all.slice(3)], request)).toMatchObject({ verdict: 'refused' });
  const mixed = [...judges.slice(0, 2), saying(3, 'unreachable'), ...cosigners.all.slice(3)];
  expect(await thresholdSign(mixed, request)).toMatchObject({ verdict: 'unavailable' });
  vi.restoreAllMocks();
});

test('the coordinator waits once for a co-signer that never answers, and then calls it last for a while', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  let taken = 0;
  const silent = createServer(() => void (taken += 1));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  // Co-signer 4 is in the first group, whichever other co-signer an earlier test has made
  // unreachable.
  const mute = cosignerClient(party(4), { origin, coordinatorSecret: null });
  const crew = cosigners.all.map((cosigner) => (cosigner.index === mute.index ? mute : cosigner));
  const key = await keyOf(4);
  const requested = () => thresholdSign(crew, transferBy(key, 4));
  expect(await requested()).toMatchObject({ ok: true });
  expect(taken).toBeGreaterThan(0);
  const before = taken;
  expect(await requested()).toMatchObject({ ok: true });
  expect(taken).toBe(before);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
  vi.restoreAllMocks();
});

test('a co-signer that was added later and has no share of a key gets no request to sign with it', async () => {
  const key = await keyOfThree();
  const publicShares = Object.fromEntries(Object.entries(key.publicShares).filter(([index]) => index !== '1'));
  const requests: number[] = [];
  cosigners.watch(({ cosigner }) => void requests.push(cosigner));
  expect(await thresholdSign(cosigners.all, transferBy({ ...key, publicShares }, 3))).toMatchObject({
    ok: true,
  });
  cosigners.watch(() => {});
  expect(requests).not.toContain(1);
});

test('after two of five machines are replaced the other three deal, and every three of the five sign', async () => {
  const made = await generateKey(cosigners.all, {
    scheme: 'frost-ed25519',
    policies: [{ policy: policyOf(3), mandate: null }],
  });
  if (!made.ok) throw new Error(made.refusal.reason);
  await cosigners.replace(2);
  await cosigners.replace(5);
  const key = await new RefreshRun({ ...made.value, addresses: {} }, policyOf(3)).finish(cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual(Array.from({ length: 5 }, () => [2]));
  for (const group of signerGroups(cosigners.all, 3)) {
    expect(await proofFault(group, { ...key, threshold: 3, epoch: 2 })).toBeNull();
  }
});
