/**
 * Attack: a co-signer probes one choice bit in each signature of a round, and the coordinator
 *   measures which signature failed first.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: all signatures of a round are checked before one is answered, so a refusal takes the
 *   same work whichever signature fails.
 */
import { randomBytes } from '@noble/hashes/utils.js';
import { afterEach, expect, test, vi } from 'vitest';
import type { Step } from '#cosigner/session/protocol.ts';
import { prepareSigning } from '#cosigner/session/signing.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { ecdsaKey } from '../../cosigner/signing/ecdsa-scene.ts';
import { HONEST, MALLORY } from '../../cosigner/session/sessions-scene.ts';

afterEach(() => vi.restoreAllMocks());

/**
 * The number of inputs of one P2WPKH transaction. Each input has its own signature, and all
 * signatures share their rounds.
 */
const UTXOS = 12;
/**
 * The position of the first word of the OT extension, after a context of 32 bytes and a commitment
 * of 32 bytes.
 */
const OT_EXTENSION = 64;

const key = ecdsaKey();

interface Refusal {
  readonly step: Step;
  /**
   * The number of random draws of the co-signer: at least two for each signature that it answered.
   */
  readonly draws: number;
  /** The number of signature states that the co-signer has used. */
  readonly used: number;
}

/**
 * Returns what the honest co-signer does in round 2 after mallory sent wrong messages for the
 * signatures of these inputs.
 */
async function probed(utxos: readonly number[]): Promise<Refusal> {
  const messages = Array.from({ length: UTXOS }, () => randomBytes(32));
  const prepared = (self: PartyIndex) => {
    const share = key.share(self);
    const occasion = new Uint8Array();
    const common = { share, signers: [HONEST, MALLORY], messages, occasion };
    return prepareSigning({ ...common, commitTo: () => null, stillAllowed: async () => true }, key.pairs.get(self)!);
  };
  const sid = randomBytes(32);
  const [honest, mallory] = [prepared(HONEST).begin(sid), prepared(MALLORY).begin(sid)];
  const [first, lie] = [await honest.run(new Map()), await mallory.run(new Map())];
  const bytes = lie.step.type === 'messages' ? lie.step.messages.get(HONEST)! : new Uint8Array();
  for (const utxo of utxos) {
    const start = (utxo * bytes.length) / UTXOS + OT_EXTENSION;
    for (let at = start; at < start + 16; at++) bytes[at] = bytes[at]! ^ 0xff;
  }
  const [draw, use] = [vi.spyOn(crypto, 'getRandomValues'), vi.spyOn(SingleUse.prototype, 'take')];
  const { step } = await first.next!.run(new Map([[MALLORY, bytes]]));
  return { step, draws: draw.mock.calls.length, used: use.mock.calls.length };
}

test('without a wrong message every signature of the round is answered', async () => {
  const { step, draws } = await probed([]);
  expect(step.type).toBe('messages');
  expect(draws).toBeGreaterThanOrEqual(2 * UTXOS);
});

test.each([[[0]], [[5]], [[11]], [[3, 7]], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]]])(
  'wrong messages for the UTXOs %j are refused after the same work, with the same error',
  async (utxos) => {
    const { step, draws, used } = await probed(utxos);
    expect(step).toEqual({ type: 'abort', abort: { culprit: MALLORY, step: 'sign-2/ot-extension', ban: true } });
    // All signatures are checked, and none is answered.
    expect({ draws, used }).toEqual({ draws: 0, used: UTXOS });
  },
);
