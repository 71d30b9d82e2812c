import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test, vi } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import type { KeyCandidate } from '#domain/vault/vault.ts';
import type { KeyProgress } from '#objects/vault/commands/key.ts';
import { keyWork, progressKey, recordKey } from '#objects/vault/commands/key.ts';
import { resendDelayMs } from '#objects/outbox.ts';
import { present } from '../../../chains/evm/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Covers what the steps of a key generation store in a vault, in any order and however often they
 * are reported.
 */

const SCHEME = 'frost-ed25519';

/** Returns a vault that has added chains and lacks the keys for them. */
function newScene(further: readonly string[] = ['solana-local']) {
  const { storage, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  const { configuration } = vault;
  host.replaceVault({ ...vault, configuration: { ...configuration, chains: [...configuration.chains, ...further] } });
  return { host, storage, queued: () => storage.queuedJob('', 'generate-key')?.tries };
}

function candidate(letter: string, ...provenBy: string[]): KeyCandidate {
  const keyId = present(parseKeyId(letter.repeat(26)));
  return { keyId, scheme: SCHEME, publicKey: 'ab', publicShares: {}, provenBy };
}

test('a candidate is kept with the proofs of all runs, and each report enqueues the next run', async () => {
  const { host, storage, queued } = newScene();
  expect(keyWork(host)).toMatchObject({ scheme: SCHEME, candidate: null });
  await progressKey(host, { scheme: SCHEME, progress: { type: 'prepared' } });
  expect([queued(), keyWork(host)?.candidate]).toEqual([0, null]);
  for (const proven of [[], ['1+2'], ['1+3'], []]) {
    await progressKey(host, { scheme: SCHEME, progress: { type: 'candidate', candidate: candidate('a', ...proven) } });
  }
  expect(keyWork(host)?.candidate?.provenBy).toEqual(['1+2', '1+3']);
  expect(storage.queuedJob('', 'generate-key')).not.toBeNull();
});

test('many steps without a result in a row wait between each other, until there is a result', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { host, storage } = newScene();
  const waitsMs = async (progress: KeyProgress) => {
    await progressKey(host, { scheme: SCHEME, progress });
    return present(storage.queuedJob('', 'generate-key')).dueAtMs - Date.now();
  };
  // Ten pairs of five co-signers, and long policies.
  for (let step = 0; step < 16; step++) expect(await waitsMs({ type: 'prepared' })).toBe(0);
  expect(await waitsMs({ type: 'prepared' })).toBeGreaterThan(0);
  for (let step = 0; step < 20; step++) await waitsMs({ type: 'prepared' });
  expect(await waitsMs({ type: 'prepared' })).toBeGreaterThan(50_000);
  const proven = { type: 'candidate', candidate: candidate('a', '1+2') } as const;
  expect(await waitsMs(proven)).toBe(0);
  for (let step = 0; step < 16; step++) expect(await waitsMs(proven)).toBe(0);
  expect(await waitsMs(proven)).toBeGreaterThan(0);
  vi.useRealTimers();
});

test('of two simultaneous runs the first candidate is kept, and only that candidate can be discarded', async () => {
  const { host } = newScene();
  await progressKey(host, { scheme: SCHEME, progress: { type: 'candidate', candidate: candidate('a') } });
  await progressKey(host, { scheme: SCHEME, progress: { type: 'candidate', candidate: candidate('b', '1+2') } });
  await progressKey(host, { scheme: SCHEME, progress: { type: 'discarded', candidate: candidate('b') } });
  expect(keyWork(host)?.candidate).toEqual(candidate('a'));
  await progressKey(host, { scheme: SCHEME, progress: { type: 'discarded', candidate: candidate('a') } });
  expect(keyWork(host)?.candidate).toBeNull();
});

test('a report about an existing key, or a key that the vault does not need, changes nothing', async () => {
  const { host, storage } = newScene();
  await progressKey(host, {
    scheme: 'ecdsa-secp256k1',
    progress: {
      type: 'candidate',
      candidate: { ...candidate('c'), scheme: 'ecdsa-secp256k1' },
    },
  });
  await progressKey(host, { scheme: 'frost-secp256k1-tr', progress: { type: 'prepared' } });
  expect([storage.keyCandidate('ecdsa-secp256k1'), storage.queuedJob('', 'generate-key')]).toEqual([null, null]);
});

test('the next key is due as soon as the previous one is recorded, although its job was just sent', async () => {
  const { host, storage } = newScene(['solana-local', 'bitcoin-regtest']);
  await progressKey(host, { scheme: SCHEME, progress: { type: 'candidate', candidate: candidate('a') } });
  const sent = present(storage.queuedJob('', 'generate-key'));
  storage.postpone(sent, Date.now() + resendDelayMs(sent));
  await recordKey(host, {
    key: { ...candidate('a'), publicKey: bytesToHex(ed25519.Point.BASE.toBytes()), addresses: {} },
  });
  expect(keyWork(host)?.scheme).toBe('frost-secp256k1-tr');
  expect(storage.due(Date.now(), 10)).toContainEqual(expect.objectContaining({ job: 'generate-key', tries: 0 }));
  const publicKey = bytesToHex(secp256k1.Point.BASE.toBytes(true));
  await recordKey(host, { key: { ...candidate('b'), scheme: 'frost-secp256k1-tr', publicKey, addresses: {} } });
  expect([keyWork(host), storage.queuedJob('', 'generate-key')]).toEqual([null, null]);
});
