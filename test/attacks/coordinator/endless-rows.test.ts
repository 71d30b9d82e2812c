/**
 * Attack: the coordinator opens sessions and sends long lists of policies without end, to exhaust
 *   the storage and the time of a co-signer.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 19
 * Defence: session rows are deleted after a day, and policies are read one by one up to the first
 *   that is not a valid successor.
 */
import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { PolicyWithMandate } from '#cosigner/signed-document.ts';
import { newPolicies } from '#cosigner/policy/policy-chain.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { byDevice } from '../../cosigner/policy/device-scene.ts';
import { memorySql } from '../../objects/memory-sql.ts';

const HOUR_MS = 3_600_000;
const SESSIONS_AN_HOUR = 20;
const DAYS = 5;

test('after many days of sessions only the sessions of the last day have a row', () => {
  const sql = memorySql();
  const storage = new CosignerStorage(sql);
  const rows = () => sql.exec('SELECT sid FROM session').toArray().length;
  let drawn = 0;
  for (let hour = 1; hour <= DAYS * 24; hour++) {
    for (let i = 0; i < SESSIONS_AN_HOUR; i++) {
      drawn += 1;
      storage.openSession(sessionId(drawn), hour * HOUR_MS);
    }
  }
  // The rows are those of the 24 hours before the last opening, and those of its own hour.
  expect(rows()).toBe(25 * SESSIONS_AN_HOUR);
  // A session of the last day continues.
  expect(storage.advance(sessionId(drawn), 2)).toBe(true);
  expect(storage.advance(sessionId(1), 2)).toBe(false);
});

test('of a thousand policies without mandates, only the first one without a mandate is read', async () => {
  let read = 0;
  function* sent(): Generator<PolicyWithMandate> {
    yield { policy: byDevice, mandate: null };
    for (let version = 2; version <= 1000; version++) {
      read += 1;
      yield { policy: { ...byDevice, version, previousHash: policyHashOf(byDevice) }, mandate: null };
    }
  }
  const vault = new VaultPolicies(memorySql());
  const chain = await newPolicies({ vaultId: byDevice.vaultId, vault, nowMs: HOUR_MS }, sent());
  expect(chain).toMatchObject({ ok: false, refusal: { code: 'policy-mismatch' } });
  expect(read).toBe(1);
});

function sessionId(number: number): Uint8Array {
  const sid = new Uint8Array(32);
  new DataView(sid.buffer).setUint32(0, number);
  return sid;
}
