import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { generateKey } from '../key/generate-key.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { policy } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../cosigners.ts';
import { Puppet } from './byzantine-cosigner.ts';
import { opening } from '../rejected-requests.ts';

/**
 * Tests co-signer 2 in an attacker's hands, with all its keys. Co-signers 1 and 3 and the
 * coordinator are honest.
 */

let cosigners: Cosigners;
let puppet: Puppet;
let key: VaultKey;
let edwardsKeyId: string;

beforeAll(async () => {
  cosigners = await startCosigners();
  puppet = await Puppet.ofNode2(cosigners.folder);
  const made = await generateKey(cosigners.all, {
    scheme: 'frost-ed25519',
    policies: [{ policy, mandate: null }],
  });
  if (!made.ok) throw new Error(made.refusal.reason);
  edwardsKeyId = made.value.keyId;
  key = await newKey(crew());
});
afterAll(() => cosigners.stop());

function crew() {
  return [...cosigners.some(1), puppet, ...cosigners.some(3)];
}

/** Changes one byte of the puppet's message in a round of a protocol. */
function lieAt(purpose: string, round: number, path: number): void {
  puppet.lie = (message, about) => {
    if (about.purpose === purpose && about.round === round) message[path] = (message[path] ?? 0) ^ 1;
    return message;
  };
}

test('the hostile co-signer signs with the others while it follows the protocol', async () => {
  const request = approvedTransfer({ key });
  expect((await thresholdSign([...cosigners.some(1), puppet], request)).ok).toBe(true);
});

test.each([
  [1, 0],
  [2, 40],
  [3, 5],
  [4, 7],
])(
  'a false message in round %i of a key generation leaves no co-signer with a key, and its sender is named',
  async (round, path) => {
    lieAt('keygen', round, path);
    const generated = await generateKey(crew(), {
      scheme: 'ecdsa-secp256k1',
      policies: [{ policy, mandate: null }],
    });
    puppet.lie = (message) => message;
    expect(generated.ok ? '' : generated.refusal.reason).toContain('blames node 2');
  },
);

describe.each(['frost-ed25519', 'frost-secp256k1-tr'] as const)('%s', (scheme) => {
  const generated = () => generateKey(crew(), { scheme, policies: [{ policy, mandate: null }] });
  afterEach(() => {
    puppet.lie = (message) => message;
  });

  test('all co-signers generate a key, and every two of them prove that they can sign with it', async () => {
    const made = await generated();
    if (!made.ok) throw new Error(made.refusal.reason);
    const { publicKey, publicShares } = made.value;
    expect([publicKey.length, Object.keys(publicShares)]).toEqual([
      scheme === 'frost-ed25519' ? 64 : 66,
      ['1', '2', '3'],
    ]);
  });

  test.each([
    ['keygen', 1, 0],
    ['keygen', 2, 40],
    ['keygen', 3, 5],
    ['keygen', 4, 7],
    ['sign', 1, 40],
  ])(
    'a false message of a %s, round %i, leaves the vault without a key, and the failure is reported',
    async (purpose, round, path) => {
      lieAt(purpose, round, path);
      const made = await generated();
      expect(made.ok ? '' : made.refusal.reason).toMatch(/blames node 2|frost-aggregate/);
    },
  );
});

test('a wrong partial signature gives no signature, and the two honest co-signers make one without it', async () => {
  const request = approvedTransfer({ key });
  const lying: typeof puppet.call = async (path, body) => {
    const answer = await puppet.call(path, body);
    if (!answer.ok) return answer;
    const value = structuredClone(answer.value) as { result?: { partial?: string } };
    if (value.result?.partial !== undefined) {
      value.result.partial = value.result.partial.replace(/..$/, (byte) => (byte === '00' ? '01' : '00'));
    }
    return { ok: true, value };
  };
  const posing = { index: puppet.index, call: lying };
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const outcome = await thresholdSign([...cosigners.some(1), posing, ...cosigners.some(3)], request);
  const reported = log.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  log.mockRestore();
  expect(outcome.ok).toBe(true);
  // The coordinator cannot know which of the two co-signers sent the wrong partial signature, so it
  // names neither.
  expect(reported).toMatchObject([
    { event: 'cosigner-fault', cosigner: null, detail: 'combine/signature', culprit: null },
  ]);
  const alone = await thresholdSign([...cosigners.some(1), posing], approvedTransfer({ key }));
  expect(alone).toEqual({ ok: false, verdict: 'unavailable', reason: 'combining aborted (combine/signature)' });
});

test('a co-signer with an ephemeral key of small order is refused by name, and a key that is too short is refused', async () => {
  const changed = async (change: (said: Uint8Array) => Uint8Array) => {
    puppet.lie = (message, { round }) => (round === 0 ? change(message) : message);
    const outcome = await thresholdSign([...cosigners.some(1), puppet], approvedTransfer({ key }));
    puppet.lie = (message) => message;
    return outcome.ok ? '' : outcome.reason;
  };
  expect(await changed((said) => said.fill(0, 0, 32))).toBe('node 1 envelope-refused (ephemeral-key), blames node 2');
  expect(await changed((said) => said.slice(0, 31))).toBe('node 1 envelope-refused');
  // The puppet has learned nothing by its false key, so it is not banned.
  expect(await thresholdSign([...cosigners.some(1), puppet], approvedTransfer({ key }))).toMatchObject({ ok: true });
});

/**
 * The offset of the first word of the OT extension, after the context and the commitment. A cheater
 * changes this word to learn the choice bits.
 */
const OT_EXTENSION = 64 + 100;

test('a cheater in the OT extension is caught, banned before the answer is sent, and stays banned', async () => {
  lieAt('sign', 1, OT_EXTENSION);
  const caught = await thresholdSign([...cosigners.some(1), puppet], approvedTransfer({ key }));
  expect(caught.ok ? '' : caught.reason).toContain('sign-2/ot-extension');
  puppet.lie = (message) => message;

  const status = async () => {
    const answer = await present(cosigners.some(1)[0]).call('pairs/status', {});
    return answer.ok ? present((answer.value as Record<string, { banned: boolean }>)['2']).banned : null;
  };
  expect(await status()).toBe(true);
  // From here on the puppet is honest. It stays banned: now, after a restart, and in a new pairing.
  const later = await thresholdSign([...cosigners.some(1), puppet], approvedTransfer({ key }));
  expect(later.ok ? '' : later.reason).toContain('peer-banned');
  await cosigners.restart();
  expect(await status()).toBe(true);
  const paired = await present(cosigners.some(1)[0]).call('pair/2/open', opening({}));
  expect(paired.ok ? '' : paired.refusal.code).toBe('peer-banned');
});

test('a banned co-signer blocks no signature, because the coordinator continues with the two honest co-signers', async () => {
  const outcome = await thresholdSign(crew(), approvedTransfer({ key }));
  expect(outcome.ok).toBe(true);
});

test('a co-signer refuses to sign with a banned peer by FROST as well', async () => {
  const path = `proof/${edwardsKeyId}/open`;
  const opened = await present(cosigners.some(1)[0]).call(path, opening({ signers: [1, 2], epoch: 1 }));
  expect(opened.ok ? '' : opened.refusal.code).toBe('peer-banned');
  const other = await present(cosigners.some(3)[0]).call(path, opening({ signers: [1, 3], epoch: 1 }));
  expect(other.ok).toBe(true);
});

test('a cheater in many sessions at once gets no more answers than the permits of the pair allow', async () => {
  // Co-signer 3 has not banned the puppet yet. The puppet opens all sessions first and cheats in
  // each; the first detection must end all of them.
  lieAt('sign', 1, OT_EXTENSION);
  const attempts = Array.from({ length: 40 }, () => approvedTransfer({ key }));
  const outcomes = await Promise.all(attempts.map((request) => thresholdSign([puppet, ...cosigners.some(3)], request)));
  expect(outcomes.some(({ ok }) => ok)).toBe(false);
  const reasons = outcomes.map((outcome) => (outcome.ok ? '' : outcome.reason));
  const answered = reasons.filter((reason) => reason.includes('sign-2/ot-extension')).length;
  expect(answered).toBeGreaterThan(0);
  expect(answered).toBeLessThanOrEqual(16);
  expect(reasons.filter((reason) => reason.includes('peer-banned')).length).toBe(40 - answered);
  puppet.lie = (message) => message;
});

test('another machine in the place of the banned co-signer is not banned', async () => {
  await cosigners.replace(2);
  const states = await present(cosigners.some(1)[0]).call('pairs/status', {});
  expect(states).toMatchObject({ ok: true, value: { '2': { banned: false } } });
  const made = await generateKey(cosigners.all, {
    scheme: 'ecdsa-secp256k1',
    policies: [{ policy, mandate: null }],
  });
  expect(made).toMatchObject({ ok: true });
});
