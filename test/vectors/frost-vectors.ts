import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { aggregate } from '#mpc/frost/aggregate.ts';
import { bindCommitments } from '#mpc/frost/group-commitment.ts';
import { signShare } from '#mpc/frost/sign.ts';
import type { FrostScheme, FrostShare } from '#mpc/frost/suite.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { party } from '../mpc/dealt-key.ts';
import ed25519 from './frost-ed25519.json' with { type: 'json' };
import taproot from './frost-secp256k1-tr.json' with { type: 'json' };
import { type SecretScalar } from '#mpc/secret-scalar.ts';

const SETS: readonly (readonly [FrostScheme, typeof ed25519])[] = [
  ['frost-ed25519', ed25519],
  ['frost-secp256k1-tr', taproot],
];

const SHARE_BYTES = 32;

export function testFrostVectors(): void {
  for (const [scheme, vectors] of SETS) {
    test(`${scheme}: factors, shares and signature equal the vectors of the Zcash Foundation`, async () => {
      const run = runOf(scheme, vectors);
      const { signers, message, commitments, shareOf, stateOf } = run;
      const key = shareOf(signers[0]!);
      const { factors } = bindCommitments({ key, message, commitments }, () => false);
      const encoded = signers.map((signer) => scalarHex(scheme, factors.get(signer)!));
      expect(encoded).toEqual(vectors.round_one_outputs.outputs.map(({ binding_factor }) => binding_factor));

      const partials = new Map<PartyIndex, Uint8Array>();
      for (const signer of signers) {
        const inbox = new Map([...commitments].filter(([from]) => from !== signer));
        const partial = signShare(stateOf(signer), inbox);
        if (!partial.ok) throw new Error(partial.abort.step);
        partials.set(signer, partial.value);
      }
      const shares = [...partials.values()].map((partial) => bytesToHex(partial.subarray(0, SHARE_BYTES)));
      expect(shares).toEqual(vectors.round_two_outputs.outputs.map(({ sig_share }) => sig_share));
      const signature = await aggregate({ key, message, partials });
      expect(signature.ok && bytesToHex(signature.value)).toBe(vectors.final_output.sig);
    });
  }
}

function runOf(scheme: FrostScheme, { inputs, round_one_outputs }: typeof ed25519) {
  const signers = inputs.participant_list.map(party);
  const message = hexToBytes(inputs.message);
  const publicKey = hexToBytes(inputs.verifying_key_key);
  const secrets = new Map(
    inputs.participant_shares.map(({ identifier, participant_share }) => [
      party(identifier),
      secretOf(scheme, participant_share),
    ]),
  );
  const publicShares = new Map([...secrets].map(([one, secret]) => [one, pointOf(scheme, secret)] as const));
  const shareOf = (self: PartyIndex): FrostShare => {
    const secret = secrets.get(self)!;
    return { scheme, keyId: 'k', epoch: 1, self, threshold: 2, secret, publicKey, publicShares };
  };
  const drawn = new Map(round_one_outputs.outputs.map((one) => [party(one.identifier), one] as const));
  const commitments = new Map(
    [...drawn].map(([one, { hiding_nonce_commitment, binding_nonce_commitment }]) => {
      return [one, concatBytes(hexToBytes(hiding_nonce_commitment), hexToBytes(binding_nonce_commitment))] as const;
    }),
  );
  /** The state of a signer after its first round, with the nonces of the vector. */
  const stateOf = (self: PartyIndex) => {
    const { hiding_nonce, binding_nonce } = drawn.get(self)!;
    const nonces = { hiding: secretOf(scheme, hiding_nonce), binding: secretOf(scheme, binding_nonce) };
    const session = { share: shareOf(self), signers, message };
    return new SingleUse({ session, nonces, commitments: commitments.get(self)! });
  };
  return { signers, message, commitments, shareOf, stateOf };
}

function secretOf(scheme: FrostScheme, hex: string): SecretScalar {
  const scalar = inGroupOf(scheme, ({ secrets }) => secrets.parse(hexToBytes(hex)));
  if (scalar === null) throw new Error('a share is a scalar');
  return scalar;
}

function scalarHex(scheme: FrostScheme, value: bigint): string {
  return inGroupOf(scheme, ({ encodeScalar }) => bytesToHex(encodeScalar(value)));
}

function pointOf(scheme: FrostScheme, secret: SecretScalar): Uint8Array {
  return inGroupOf(scheme, ({ multiplyGenerator, encodePoint }) => encodePoint(multiplyGenerator(secret)));
}
