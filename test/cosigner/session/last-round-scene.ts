import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { ExportLog } from '#cosigner/key/export-log.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { CosignerKey } from '#cosigner/key/key.ts';
import type { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import { pairContext } from '#cosigner/session/pair-store.ts';
import type { PeerMessages, Round, Step } from '#cosigner/session/protocol.ts';
import { sealedShare } from '#cosigner/key/share-store.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { encodePairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { publicIdentity } from '#mpc/identity.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { seal } from '#mpc/share.ts';
import { memorySql } from '../../objects/memory-sql.ts';
import { intent } from '../policy/check-scene.ts';
import { type EcdsaKey, ecdsaKey, signatureOf } from '../signing/ecdsa-scene.ts';
import { HONEST, MALLORY } from './sessions-scene.ts';
import { pinnedPolicies, vaultObject } from '../vault-scene.ts';

/**
 * A signature with a pause before its last round. The honest co-signer is a real `CosignerKey` with
 * real storage; mallory takes part in every round. Each test defines what happens in the pause.
 */

export const KEY_ID = 'a'.repeat(26);

export interface Paused {
  readonly storage: CosignerStorage;
  /** The policies of the vault of the key. */
  readonly vault: VaultPolicies;
  readonly cosignerKey: CosignerKey;
  /** Returns a transfer from the wallet of the key under a policy. */
  readonly transfer: (governedBy: Policy) => OnChainIntent;
  /**
   * Returns 'signs', the code of the refusal at the opening, or the step that aborted the last
   * round.
   */
  readonly sign: (request: SigningRequest, pause: () => Promise<void>) => Promise<string>;
  /** Activates shares of the next epoch, as a refresh does. */
  readonly refresh: () => Promise<void>;
}

export async function pausedSignature(governedBy: Policy, vault = pinnedPolicies(governedBy)): Promise<Paused> {
  const key = ecdsaKey(KEY_ID);
  const membership = await honestMembership();
  const sql = memorySql();
  const storage = new CosignerStorage(sql);
  const keep = async (epoch: number, isActive: boolean) => {
    const share = { ...key.share(HONEST), epoch };
    storage.sealed.put({
      ...(await sealedShare(membership, share, new Uint8Array(32))),
      baseEpoch: epoch - 1,
      isActive,
    });
  };
  storage.putVaultId(governedBy.vaultId);
  await keep(1, true);
  const cosignerKey = new CosignerKey({
    membership,
    storage,
    exportLog: new ExportLog(sql),
    vaultOf: () => vaultObject(vault),
    peers: { state: async () => pairState(membership, key), isBanned: async () => false },
  });
  return {
    storage,
    vault,
    cosignerKey,
    transfer: (policy) => ({
      ...intent,
      from: walletOf(key),
      policyHash: policyHashOf(policy),
      policyVersion: policy.version,
    }),
    sign: async (request, pause) => {
      const prepared = await cosignerKey.prepareSignature(KEY_ID, [HONEST, MALLORY], request);
      if (!prepared.ok) return prepared.refusal.code;
      const sid = randomBytes(32);
      // Mallory signs a random digest here, because the last round of the honest co-signer does not
      // use mallory's last round.
      return play(prepared.value.begin(sid), signatureOf(key)(MALLORY).begin(sid), pause);
    },
    refresh: async () => {
      await keep(2, false);
      storage.sealed.activate(2, { receipts: {}, nowMs: Date.now() });
    },
  };
}

/**
 * Runs rounds 1 and 2 of both co-signers, the pause, and the last round of the honest co-signer.
 */
async function play(honest: Round, mallory: Round, pause: () => Promise<void>): Promise<string> {
  let rounds: readonly [Round, Round] = [honest, mallory];
  let inboxes: readonly [PeerMessages, PeerMessages] = [new Map(), new Map()];
  for (let number = 1; number < LAST_ROUND; number++) {
    const [own, theirs] = [await rounds[0].run(inboxes[0]), await rounds[1].run(inboxes[1])];
    if (own.next === null || theirs.next === null) throw new Error(`round ${number} is not the last`);
    inboxes = [inboxOf(theirs.step, [MALLORY, HONEST]), inboxOf(own.step, [HONEST, MALLORY])];
    rounds = [own.next, theirs.next];
  }
  await pause();
  const { step } = await rounds[0].run(inboxes[0]);
  if (step.type === 'abort') return step.abort.step;
  return step.type === 'result' ? 'signs' : 'goes on';
}

const LAST_ROUND = 3;

function inboxOf(step: Step, [from, to]: readonly [PartyIndex, PartyIndex]): PeerMessages {
  const message = step.type === 'messages' ? step.messages.get(to) : undefined;
  if (message === undefined) throw new Error('a round before the last one sends messages');
  return new Map([[from, message]]);
}

async function honestMembership(): Promise<CosignerSet> {
  const secret = () => bytesToHex(randomBytes(32));
  const [own, other] = [secret(), secret()];
  const env: CosignerConfig = {
    NODE_INDEX: String(HONEST),
    PEERS: JSON.stringify({ 1: publicIdentity(own), 2: publicIdentity(other) }),
    IDENTITY_SECRET: own,
    KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'k1', secret: secret() }]),
  };
  return loadCosignerSet(env);
}

async function pairState({ keyEncryption }: CosignerSet, key: EcdsaKey) {
  const setup = key.pairs.get(HONEST)?.get(MALLORY);
  if (setup === undefined) throw new Error('the pair is set up');
  const sealed = await seal(keyEncryption, pairContext(HONEST, MALLORY, 1), encodePairSetup(setup));
  return { banned: false, setupId: bytesToHex(setup.setupId), madeAtMs: 1, sealed };
}

function walletOf({ dealt }: EcdsaKey): string {
  const address = addressOn(intent.chain, 'ecdsa-secp256k1', dealt.publicKey);
  if (address === null) throw new Error('the key has a wallet on every EVM chain');
  return address;
}
