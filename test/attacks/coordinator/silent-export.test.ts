/**
 * Attack: the coordinator requests the recovery packages of the co-signers and writes nothing
 *   into the history of the vault.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 20
 * Defence: each co-signer records and limits its exports, and signs the list of exports over a
 *   nonce of the auditor.
 */
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publicIdentity } from '#mpc/identity.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { ExportAudit } from '#cli/verify-exports.ts';
import { exportFaults } from '#cli/verify-exports.ts';
import { identitySecretsIn } from '../../cosigner/key/identity-secrets.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { newKey, present, startCosigners } from '../../cosigner/cosigners.ts';
import type { SignedExportList } from '#cosigner-client/export-lists.ts';
import { exportListOf } from '#cosigner-client/export-lists.ts';

const RECOVERY_KEYS = [1, 2, 3].map((cosigner) => publicIdentity(String(cosigner).repeat(64)).exchange);

let cosigners: Cosigners;
let key: VaultKey;
beforeAll(async () => {
  cosigners = await startCosigners(3, { recoveryKeys: RECOVERY_KEYS });
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());

const newNonce = () => bytesToHex(randomBytes(32));

/**
 * Returns the input of an auditor: the co-signer keys from the deployment, and the history that the
 * coordinator shows.
 */
function audit(nonce: string, requestedAtMs: readonly number[]): ExportAudit {
  const signing = identitySecretsIn(cosigners.folder).map((secret) => publicIdentity(secret).signing);
  return {
    nonce,
    signingKeys: new Map(signing.map((one, i) => [i + 1, one])),
    keyIds: [key.keyId],
    history: requestedAtMs.map((atMs) => ({ action: 'recovery-export', detail: key.keyId, atMs })),
  };
}

async function listsOver(nonce: string): Promise<readonly SignedExportList[]> {
  const lists: SignedExportList[] = [];
  for (const cosigner of cosigners.all) {
    const answer = await exportListOf(cosigner, key.keyId, nonce);
    if (!answer.ok) throw new Error(answer.refusal.code);
    lists.push(answer.value);
  }
  return lists;
}

const exportFrom = (index: number) => present(cosigners.all[index - 1]).call(`key/${key.keyId}/recovery`, {});

test('an export without a line in the history is detected from the lists of the co-signers', async () => {
  const before = newNonce();
  const nothing = await listsOver(before);
  expect(exportFaults(nothing, audit(before, []))).toEqual([]);
  const requestedAtMs = Date.now();
  for (const cosigner of [1, 2, 3]) expect(await exportFrom(cosigner)).toMatchObject({ ok: true });
  const honest = newNonce();
  expect(exportFaults(await listsOver(honest), audit(honest, [requestedAtMs]))).toEqual([]);
  // Two co-signers give a second package, and the history gets no line about it.
  for (const cosigner of [1, 2]) expect(await exportFrom(cosigner)).toMatchObject({ ok: true });
  const nonce = newNonce();
  const lists = await listsOver(nonce);
  expect(lists.map(({ exports }) => exports.map(({ seq, recoveryKey }) => [seq, recoveryKey]))).toEqual([
    [1, 2].map((seq) => [seq, RECOVERY_KEYS[0]]),
    [1, 2].map((seq) => [seq, RECOVERY_KEYS[1]]),
    [[1, RECOVERY_KEYS[2]]],
  ]);
  const hidden = /^co-signer [12], key .*: export 2 of epoch 1 at .* is not in the history$/;
  expect(exportFaults(lists, audit(nonce, [requestedAtMs]))).toEqual([
    expect.stringMatching(hidden),
    expect.stringMatching(hidden),
  ]);
  // The coordinator sends a list from before the second export, omits a row of the new list, or
  // sends no list.
  const [first, second] = [present(lists[0]), present(lists[1])];
  const cut = { ...second, exports: second.exports.slice(0, 1) };
  const renamed = { ...first, nonce: before, exports: [] };
  expect(exportFaults([...nothing.slice(0, 1), cut], audit(nonce, [requestedAtMs]))).toEqual([
    `co-signer 1, key ${key.keyId}: the list has another nonce`,
    `co-signer 2, key ${key.keyId}: the signature is not valid`,
    `co-signer 3, key ${key.keyId}: no list`,
  ]);
  expect(exportFaults([renamed], audit(before, []))).toContain(
    `co-signer 1, key ${key.keyId}: the signature is not valid`,
  );
});

test('the export rows survive a restart, and a co-signer gives at most ten packages of a key a day', async () => {
  await cosigners.restart();
  for (let i = 2; i <= 10; i++) expect(await exportFrom(3)).toMatchObject({ ok: true });
  expect(await exportFrom(3)).toMatchObject({ ok: false, refusal: { code: 'too-many-exports' } });
  const nonce = newNonce();
  expect(present((await listsOver(nonce))[2]).exports.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('only the coordinator may request packages and lists', async () => {
  for (const action of ['recovery', 'exports']) {
    const url = `${cosigners.originOf(1)}/v1/key/${key.keyId}/${action}`;
    const body = JSON.stringify(action === 'exports' ? { nonce: newNonce() } : {});
    expect((await fetch(url, { method: 'POST', body })).status).toBe(401);
  }
});
