import { nameOf } from '#devices/policy-succession.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { relay } from '#jobs/signing/relay.ts';
import { sharesHeldBy } from '#cosigner-client/held-shares.ts';
import { policy } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { inVault, present, startCosigners } from '../cosigners.ts';
import { Puppet } from '../signing/byzantine-cosigner.ts';
import { epochsOf, EVERYBODY, frostKey, RefreshRun, signingGroups } from './refresh-scene.ts';

/**
 * Tests that an attacker who controls the coordinator or one co-signer during a key refresh learns
 * nothing, and cannot make the key unusable.
 */

let cosigners: Cosigners;

beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => {
  vi.restoreAllMocks();
  cosigners.watch(() => {});
});

/** Returns the fields of a key that an honest coordinator sends to every co-signer. */
const requestedKey = ({ scheme, publicKey, publicShares }: VaultKey) => ({
  scheme,
  baseEpoch: 1,
  epoch: 2,
  dealers: [1, 2],
  publicKey,
  publicShares,
  policy: nameOf(policy),
});

function deal(key: VaultKey, change: (cosigner: number) => Record<string, unknown> = () => ({}), crew = cosigners.all) {
  const path = () => `reshare/${key.keyId}`;
  return relay({ cosigners: crew, path, request: ({ index }) => ({ ...requestedKey(key), ...change(index) }) });
}

async function receiptsOf(key: VaultKey, epoch: number): Promise<Record<string, string>> {
  const receipts: Record<string, string> = {};
  for (const cosigner of cosigners.all) {
    const held = await sharesHeldBy(cosigner, key.keyId);
    const share = held.ok ? held.value.find((one) => one.epoch === epoch) : undefined;
    Object.assign(receipts, share?.receipts);
  }
  return receipts;
}

test('a co-signer that reports missing policies again and again makes each next step wait', async () => {
  const run = new RefreshRun(await frostKey(cosigners.all));
  expect(await run.step(cosigners.all)).toBeNull();
  const liar: CosignerClient = {
    index: present(cosigners.all[2]).index,
    call: (path, body) =>
      path.startsWith('reshare/')
        ? Promise.resolve(refused({ cosigner: liar.index, code: 'policy-behind', detail: '0', culprit: null }))
        : present(cosigners.all[2]).call(path, body),
  };
  const crew = [...cosigners.some(1, 2), liar];
  for (let i = 0; i < 3; i++) expect(await run.step(crew)).toBe('dealing: node 3 policy-behind (0)');
  await run.finish(cosigners.all);
});

describe('a coordinator that attacks a key refresh', () => {
  let key: VaultKey;
  let other: VaultKey;
  beforeAll(async () => {
    [key, other] = [await frostKey(cosigners.all), await frostKey(cosigners.all)];
  });

  test.each<[string, () => Record<string, unknown>, string]>([
    ['a threshold', () => ({ threshold: 1 }), 'malformed'],
    ['more dealers than sign together', () => ({ dealers: [1, 2, 3] }), 'malformed'],
    ['fewer dealers', () => ({ dealers: [1] }), 'malformed'],
    ['one dealer twice', () => ({ dealers: [1, 1] }), 'malformed'],
    ['dealers in disorder', () => ({ dealers: [2, 1] }), 'malformed'],
    ['a dealer that no co-signer has pinned', () => ({ dealers: [1, 4] }), 'malformed'],
    ['another key under its name', () => ({ publicKey: other.publicKey }), 'malformed'],
    ['shares of another key', () => ({ publicShares: other.publicShares }), 'malformed'],
    [
      'one share of another key that it does not deal from',
      () => ({ publicShares: { ...key.publicShares, 3: other.publicShares['3'] } }),
      'malformed',
    ],
    ['the current epoch', () => ({ epoch: 1 }), 'malformed'],
    ['the epoch before', () => ({ baseEpoch: 0 }), 'malformed'],
    ['a base epoch that does not exist', () => ({ baseEpoch: 2, epoch: 3 }), 'unknown-key'],
    ['an epoch that no record can have', () => ({ epoch: 70_000 }), 'malformed'],
    ['no policy', () => ({ policy: null }), 'malformed'],
    ['another policy', () => ({ policy: nameOf({ ...policy, threshold: 1 }) }), 'policy-mismatch'],
    ['a later policy', () => ({ policy: nameOf({ ...policy, version: 2 }) }), 'policy-behind'],
    ['a policy of another vault', () => ({ policy: nameOf(inVault(8, policy)) }), 'malformed'],
    ['another scheme', () => ({ scheme: 'ecdsa-secp256k1' }), 'malformed'],
    ['a field more', () => ({ extra: 1 }), 'malformed'],
  ])('a coordinator that requests a refresh with %s gets no shares dealt', async (_name, change, code) => {
    const dealt = await deal(key, change);
    expect(dealt.ok ? 'dealt' : dealt.refusal.code).toBe(code);
    expect(await epochsOf(cosigners.all, key)).toEqual([[1], [1], [1]]);
  });

  test.each<[string, (cosigner: number) => Record<string, unknown>]>([
    ['who deals', (cosigner) => ({ dealers: cosigner === 3 ? [1, 3] : [1, 2] })],
    ['which epoch comes', (cosigner) => ({ epoch: cosigner === 3 ? 3 : 2 })],
  ])('a coordinator that sends two co-signers different terms about %s gets no shares dealt', async (_name, change) => {
    const dealt = await deal(key, change);
    expect(dealt.ok ? 'dealt' : dealt.refusal.code).toBe('envelope-refused');
    expect(await epochsOf(cosigners.all, key)).toEqual([[1], [1], [1]]);
  });

  test('a coordinator that excludes a co-signer from a refresh gets no shares dealt', async () => {
    const dealt = await deal(key, () => ({}), cosigners.some(1, 2) as unknown as typeof cosigners.all);
    expect(dealt.ok ? 'dealt' : dealt.refusal.code).toBe('unknown-session');
    expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
  });

  test('a coordinator that changes, drops or swaps a message of any round gets no shares dealt', async () => {
    const damages: readonly ((envelopes: Record<string, Uint8Array>) => Record<string, Uint8Array>)[] = [
      (envelopes) => Object.fromEntries(Object.entries(envelopes).map(([from, one]) => [from, spoiled(one)])),
      (envelopes) => Object.fromEntries(Object.entries(envelopes).slice(1)),
      (envelopes) => {
        const [[first, one] = NOTHING, [second, two] = NOTHING] = Object.entries(envelopes);
        return { [first]: two, [second]: one };
      },
    ];
    let epoch = 1;
    for (const damage of damages) {
      for (const round of [2, 3, 4, 5]) {
        cosigners.watch(({ cosigner, path, body }) => {
          const request = body as { round?: number; envelopes?: Record<string, Uint8Array> };
          if (cosigner !== 3 || !path.endsWith('/round') || request.round !== round) return;
          request.envelopes = damage(request.envelopes ?? {});
        });
        epoch += 1;
        const dealt = await deal(key, () => ({ epoch }));
        cosigners.watch(() => {});
        expect([round, dealt.ok ? 'dealt' : dealt.refusal.code]).toEqual([round, 'envelope-refused']);
      }
    }
    // In the last round two co-signers receive every message. They keep new shares, which are
    // useless until the third co-signer has its new share.
    expect(await epochsOf(cosigners.all, key)).toEqual([[1, 5, 9, 13], [1, 5, 9, 13], [1]]);
    expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
    await new RefreshRun(key).finish(cosigners.all);
    expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
  });
});

const NOTHING = ['', new Uint8Array()] as const;

function spoiled(envelope: Uint8Array): Uint8Array {
  return envelope.map((byte, i) => (i === 40 ? byte ^ 1 : byte));
}

describe('the activation of new shares', () => {
  let key: VaultKey;
  beforeAll(async () => {
    key = await frostKey(cosigners.all);
    expect((await deal(key)).ok).toBe(true);
  });

  test('an activation needs the receipts of all co-signers', async () => {
    const receipts = await receiptsOf(key, 2);
    const old = await receiptsOf(key, 1);
    const elsewhere = await frostKey(cosigners.all);
    expect((await deal(elsewhere)).ok).toBe(true);
    const forged = [
      {},
      { '1': receipts['1'], '2': receipts['2'] },
      { ...receipts, '3': receipts['2'] },
      { ...receipts, '3': old['3'] },
      { ...receipts, '3': '00'.repeat(64) },
      await receiptsOf(elsewhere, 2),
    ];
    const answers: string[] = [];
    for (const claimed of forged) {
      const answer = await cosigners.all[0].call(`key/${key.keyId}/activate`, { epoch: 2, receipts: claimed });
      answers.push(answer.ok ? 'changed' : answer.refusal.code);
    }
    expect(answers).toEqual(forged.map(() => 'not-enough-witnesses'));
    const unknown = await cosigners.all[0].call(`key/${key.keyId}/activate`, { epoch: 3, receipts });
    expect(unknown.ok ? 'changed' : unknown.refusal.code).toBe('unknown-key');
    expect(await epochsOf(cosigners.all, key)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  test('an activation brings every co-signer to the newest shares, whichever shares each of them uses before', async () => {
    expect((await deal(key, () => ({ epoch: 3 }))).ok).toBe(true);
    const [second, third] = [await receiptsOf(key, 2), await receiptsOf(key, 3)];
    const change = async (cosigner: number, epoch: number, receipts: Record<string, string>) => {
      const answer = await present(cosigners.all[cosigner - 1]).call(`key/${key.keyId}/activate`, { epoch, receipts });
      expect(answer).toMatchObject({ ok: true });
    };
    await change(1, 2, second);
    // Co-signers 2 and 3 keep their old shares, and sign with them.
    expect(await signingGroups(cosigners.all, key)).toEqual(['2+3']);
    await change(2, 3, third);
    // A co-signer with newer shares does not return to older ones.
    await change(2, 2, second);
    expect(await epochsOf(cosigners.all, key)).toEqual([[2, 3], [3], [1, 2, 3]]);
    await new RefreshRun(key).finish(cosigners.all);
    // The interrupted refresh ends first, and then every co-signer gets new shares.
    expect(await epochsOf(cosigners.all, key)).toEqual([[4], [4], [4]]);
    expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
  });

  test('a refresh from shares of a past epoch is refused', async () => {
    const dealt = await deal(key, () => ({ epoch: 5 }));
    expect(dealt.ok ? 'dealt' : dealt.refusal.code).toBe('other-epoch');
  });
});

test('two coordinators that run one refresh at once leave all co-signers at the same epoch', async () => {
  const key = await frostKey(cosigners.all);
  const both = [new RefreshRun(key), new RefreshRun(key)];
  await Promise.allSettled(both.map((run) => run.finish(cosigners.all)));
  await new RefreshRun(key).finish(cosigners.all);
  expect(new Set((await epochsOf(cosigners.all, key)).map(String)).size).toBe(1);
  expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
});

describe('a co-signer that an attacker controls', () => {
  let puppet: Puppet;
  let key: VaultKey;
  const crew = () => [...cosigners.some(1), puppet, ...cosigners.some(3)] as unknown as typeof cosigners.all;
  beforeAll(async () => {
    puppet = await Puppet.ofNode2(cosigners.folder);
    key = await frostKey(crew());
  });

  test.each([
    ['its commitment', 1, 0],
    ['its opening', 2, 40],
    ['the share that it deals', 3, 5],
    ['what it confirms', 4, 7],
  ])(
    'a co-signer that lies about %s is named as the culprit, and no co-signer gets new shares',
    async (_name, round, path) => {
      puppet.lie = (message, about) => {
        if (about.purpose === 'reshare' && about.round === round) message[path] = (message[path] ?? 0) ^ 1;
        return message;
      };
      const dealt = await deal(key, () => ({}), crew());
      puppet.lie = (message) => message;
      expect(dealt.ok ? null : dealt.refusal.culprit).toBe(2);
      for (const honest of cosigners.some(1, 3)) {
        expect(await epochsOf([honest], key)).toEqual([[1]]);
      }
    },
  );

  test('a hostile co-signer that deals honestly gets one share like every other co-signer', async () => {
    expect((await deal(key, () => ({}), crew())).ok).toBe(true);
    expect(await epochsOf(cosigners.some(1, 3), key)).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });
});
