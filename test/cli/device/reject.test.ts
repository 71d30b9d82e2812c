import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { parseVaultId } from '#domain/id.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { transactionRejectionBytes } from '#domain/access/transaction-rejection.ts';
import { byDevice, laptop } from '../../cosigner/policy/device-scene.ts';
import { transferIntent } from '../../domain/cast.ts';
import { useTerminal } from './terminal.ts';

/** Covers the rejection of a transaction in a terminal, against a service that the test sets. */

const { lines, posted } = useTerminal();

const intent = transferIntent();
const canonical = bytesToHex(intentBytes(intent));
const intentDigest = bytesToHex(sha256(intentBytes(intent)));
const { vaultId, transactionId } = intent;
const digest = bytesToHex(sha256(transactionRejectionBytes({ vaultId, transactionId, intentDigest })));
const policyOf = (policy: typeof byDevice) => ({ canonical: bytesToHex(policyBytes(policy)) });
const honest = { canonical, policy: policyOf(byDevice), rejection: { canonical: '00', digest } };

/** Runs the command against a service. Returns the bodies that it posted, by path. */
async function sentTo(service: object, id: string = transactionId, more: readonly string[] = []) {
  const sent = await posted(service, ['reject', '--transaction', id, ...more]);
  return sent.map(({ path, body }) => [path, body] as const);
}

test('the command shows the transaction from its bytes and signs bytes that it builds itself', async () => {
  const lie = { ...honest, digest: '11'.repeat(32), rejection: { canonical, digest: intentDigest } };
  for (const service of [honest, lie]) {
    expect(await sentTo(service)).toEqual([[`/transaction/${transactionId}/reject`, laptop.sign(digest)]]);
  }
  expect(lines.join('\n')).toContain('Rejection: you do not want this transaction');
  expect(lines.join('\n')).toContain(intent.to);
});

test('a reason is sent beside the signature, which does not cover it', async () => {
  const [sent] = await sentTo(honest, transactionId, ['--reason', 'Too much']);
  expect(sent?.[1]).toEqual({ ...laptop.sign(digest), reason: 'Too much' });
});

test('bytes of another transaction, of another kind or under the policy of another vault are not rejected', async () => {
  const other = transactionId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  expect(await sentTo(honest, other)).toEqual([]);
  expect(lines.at(-1)).toContain('another transaction');
  const rejection = bytesToHex(transactionRejectionBytes({ vaultId, transactionId, intentDigest }));
  expect(await sentTo({ ...honest, canonical: rejection })).toEqual([]);
  expect(lines.at(-1)).toContain('not of the type');
  const elsewhere = { ...byDevice, vaultId: parseVaultId(999) ?? byDevice.vaultId };
  expect(await sentTo({ ...honest, policy: policyOf(elsewhere) })).toEqual([]);
  expect(lines.at(-1)).toContain('another vault');
});
