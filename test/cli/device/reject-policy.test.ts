import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { signatureFault } from '#devices/device-signature.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';
import { byDevice, laptop } from '../../cosigner/policy/device-scene.ts';
import { mandateFor, successor } from '../../devices/policy-links-scene.ts';
import { alice, vaultId } from '../../domain/cast.ts';
import { useTerminal } from './terminal.ts';

/** Covers the rejection of a policy change in a terminal, against a service that the test sets. */

/** A word in every text that only the service wrote. */
const MARK = 'SERVERTEXT';

const { lines, posted } = useTerminal();

const next = successor(byDevice, { threshold: 1 });
const mandate = mandateFor(next);
const rejection = { vaultId, changeId: mandate.id, mandateDigest: mandate.digest };
const digest = bytesToHex(sha256(rejectionBytes(rejection)));

const canonicalOf = (policy: Policy) => ({ canonical: bytesToHex(policyBytes(policy)) });
const honest = {
  id: mandate.id,
  canonical: bytesToHex(mandate.bytes),
  policy: canonicalOf(next),
  decidedBy: canonicalOf(byDevice),
  note: MARK,
  rejection: { canonical: '00', digest },
};

/** Runs the command against a service. Returns the requests that it sent besides the first. */
function sentTo(service: object, { vault = String(vaultId), more = [] as readonly string[] } = {}) {
  return posted(service, ['reject-policy', '--vault', vault, '--change', mandate.id, ...more]);
}

test('the command shows the change from its bytes and signs the rejection, without pins', async () => {
  const [sent, ...more] = await sentTo(honest);
  expect([sent?.path, more]).toEqual([`/vault/${vaultId}/policy-change/${mandate.id}/reject`, []]);
  const { keyId, signature } = laptop.signed(digest);
  expect(sent?.body).toEqual({ keyId, signature });
  const fault = (over: string) =>
    signatureFault(laptop.asDevice(alice.userId), over, { keyId, signature, assertion: null });
  expect([await fault(digest), await fault(mandate.digest)]).toEqual([null, 'wrong-signature']);
  expect(lines.join('\n')).toContain('Reject the change to policy version 2');
  expect(lines.join('\n')).toContain('Changed: Approval threshold: from 2 to 1');
  expect(lines.join('\n')).not.toContain(MARK);
});

test('a reason is sent beside the signature, which does not cover it', async () => {
  const [sent] = await sentTo(honest, { more: ['--reason', 'Too low'] });
  expect(sent?.body).toEqual({ ...laptop.sign(digest), reason: 'Too low' });
});

test('a service cannot choose the bytes that the command signs', async () => {
  const lie = {
    ...honest,
    digest: '11'.repeat(32),
    rejection: { canonical: honest.canonical, digest: mandate.digest },
  };
  expect((await sentTo(lie))[0]?.body).toEqual(laptop.sign(digest));
});

test.each<[string, object, string]>([
  [
    'of another change',
    { ...honest, canonical: bytesToHex(mandateFor(successor(next)).bytes) },
    'another policy change',
  ],
  ['with another policy', { ...honest, policy: canonicalOf(successor(byDevice)) }, 'does not match the policy'],
  ['with another policy before it', { ...honest, decidedBy: canonicalOf(next) }, 'another policy before'],
  ['with the bytes of a rejection', { ...honest, canonical: bytesToHex(rejectionBytes(rejection)) }, 'not of the type'],
])('a change %s is not rejected', async (_name, service, sentence) => {
  expect(await sentTo(service)).toEqual([]);
  expect(lines.at(-1)).toContain(sentence);
});

test('a change of another vault is not rejected', async () => {
  expect(await sentTo(honest, { vault: '999' })).toEqual([]);
  expect(lines.at(-1)).toContain('belongs to another vault');
});
