/**
 * Attack: a hostile co-signer states a policy that no honest co-signer has in force, to obtain approvals under it.
 * Attacker: coordinator-and-cosigner
 * Co-signers: f
 * Finding: 2.7
 * Defence: a device signs only if at least t co-signers agree, so that one of them is honest, and if none disagrees.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statementRefusal } from '#devices/statement.ts';
import type { CosignerPin } from '#domain/cosigner-pin.ts';
import { accepted } from '#domain/result.ts';
import { statementBytes } from '#domain/statement.ts';
import type { VaultKey } from '#domain/vault.ts';
import type { CosignerClient } from '#nodes/cosigner-client.ts';
import { identitySecrets } from '#mpc/identity.ts';
import { byDevice } from '../../cosigner/device-scene.ts';
import type { Nodes } from '../../cosigner/nodes.ts';
import { newKey, startNodes } from '../../cosigner/nodes.ts';
import { hashOf } from '../../devices/policy-chain-scene.ts';
import { party } from '../../mpc/dealt-key.ts';
import { inWords, pinsOf, showTo, signer, stricter } from '../statement-scene.ts';

let nodes: Nodes;
let key: VaultKey;
let pins: readonly CosignerPin[];
const change = stricter(byDevice);
const next = change.policy;

beforeAll(async () => {
  nodes = await startNodes();
  pins = await pinsOf(nodes);
  key = await newKey(nodes.all, { governedBy: byDevice });
}, 120_000);
afterAll(() => nodes.stop());

const alice = () => signer(pins, { keyId: key.keyId, policy: next });

/** A co-signer in the attacker's hands: it signs that the new policy is in force, whatever it has adopted. */
function liar(index: number): CosignerClient {
  const secrets = JSON.parse(readFileSync(join(nodes.folder, 'secrets.json'), 'utf8')) as {
    readonly cosigners: readonly { readonly identity: string }[];
  };
  const { signing } = identitySecrets(secrets.cosigners[index - 1]?.identity ?? '');
  return {
    index: party(index),
    call: async (_path, body) => {
      const { nonce } = body as { readonly nonce: string };
      const statement = {
        cosigner: index,
        vaultId: next.vaultId,
        keyId: key.keyId,
        policyVersion: next.version,
        policyHash: hashOf(next),
        epoch: 1,
        issuedAtMs: Date.now(),
        nonce,
      };
      return accepted({ ...statement, signature: bytesToHex(ed25519.sign(statementBytes(statement), signing)) });
    },
  };
}

test('one lying co-signer of 2 of 3 cannot make a policy look as if it were in force', async () => {
  const [first, , third] = nodes.all;
  const shown = await alice().ask([first, liar(2), third]);
  expect([inWords(shown), statementRefusal(shown, 2)]).toEqual([
    ['disagrees', 'agrees', 'disagrees'],
    'cosigner-disagrees',
  ]);
  // The coordinator leaves out the honest statements.
  const alone = await alice().ask([liar(2)]);
  expect([inWords(alone), statementRefusal(alone, 2)]).toEqual([
    ['unknown: missing', 'agrees', 'unknown: missing'],
    'too-few-agree',
  ]);
});

test('a lying co-signer cannot speak for another one', async () => {
  const both = await alice().ask([liar(2)], ([own]) => {
    if (own === undefined || own.statement === null) throw new Error('the liar states something');
    return [own, { ...own, cosigner: 1 }, { ...own, cosigner: 3, statement: { ...own.statement, cosigner: 3 } }];
  });
  expect(inWords(both)).toEqual(['unknown: other-cosigner', 'agrees', 'unknown: bad-signature']);
  expect(statementRefusal(both, 2)).toBe('too-few-agree');
});

test('with t agreements one honest co-signer has the policy in force, and only then the signer signs', async () => {
  await showTo(nodes.some(1), key.keyId, [{ policy: byDevice, mandate: null }, change]);
  const [first, , third] = nodes.all;
  const enough = await alice().ask([first, liar(2)]);
  expect([inWords(enough), statementRefusal(enough, 2)]).toEqual([['agrees', 'agrees', 'unknown: missing'], null]);
  // With three of three, two hostile co-signers are assumed, and two agreements prove nothing.
  expect(statementRefusal(enough, 3)).toBe('too-few-agree');
  const all = await alice().ask([first, liar(2), third]);
  expect(statementRefusal(all, 2)).toBe('cosigner-disagrees');
});
