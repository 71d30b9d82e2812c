import { bytesToHex } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { Client } from '#cli/api-client.ts';
import type { PinnedVault } from '#cli/device/pin-file.ts';
import type { StatementQuery } from '#cli/device/statement-check.ts';
import { provePolicies } from '#cli/device/statement-check.ts';
import type { Group } from './cosigner.ts';

/** The policy that the intent to approve names. */
export interface NamedPolicy {
  readonly policyVersion: number;
  readonly policyHash: string;
}

/**
 * The devices of the people: the data that each has pinned, and the check of
 * `node cli/conclave.ts device` before each approval. Its client calls the coordinator of the game.
 * A person accepts a missing statement of a co-signer, and no other exception.
 */
export class Signers {
  readonly #cosigners: PinnedVault['cosigners'];
  readonly #threshold: number;
  readonly #keyId: string;
  readonly #client = new Client('http://coordinator', 'token');
  readonly #pinned = new Map<string, PinnedVault>();
  #first: Policy | null = null;

  constructor({ pins, threshold, keyId }: Group) {
    this.#cosigners = [...pins];
    this.#threshold = threshold;
    this.#keyId = keyId;
  }

  /**
   * Pins the first policy in every device, as when the owner compared the fingerprint at the
   * vault's creation.
   */
  pin(first: Policy): void {
    this.#first = first;
  }

  get first(): Policy {
    if (this.#first === null) throw new Error('the vault has a policy');
    return this.#first;
  }

  #pinnedAt(deviceId: string): PinnedVault {
    const policy = { version: this.first.version, hash: policyHashOf(this.first) };
    const entered = { cosigners: this.#cosigners, threshold: this.#threshold, policy, keyIds: [this.#keyId] };
    return this.#pinned.get(deviceId) ?? entered;
  }

  /**
   * Returns null when the device is convinced that the last policy of the chain is in force, or
   * else why it does not approve.
   */
  async setSimilar(
    deviceId: string,
    { call, intent }: { readonly call: StatementQuery; readonly intent: NamedPolicy },
    chain: readonly AdoptedPolicy[],
  ): Promise<string | null> {
    const pinned = this.#pinnedAt(deviceId);
    answerWith(chain);
    try {
      const proven = await provePolicies(this.#client, pinned, call);
      const named = proven.links.find(({ policy }) => policy.version === intent.policyVersion);
      const objection = proven.exceptions.find(({ agreement }) => agreement !== 'unknown');
      if (objection !== undefined) return `the person does not name co-signer ${objection.cosigner}`;
      if (named?.hash !== intent.policyHash) return 'the intent names a policy that the vault never had';
      this.#pinned.set(deviceId, proven.pinned);
      return null;
    } catch (error) {
      if (error instanceof Error && REFUSALS.test(error.message)) return error.message;
      throw error;
    }
  }
}

/**
 * Makes the network answer a device's client with this chain. Nothing else in this process sends
 * requests. The device's terminal output is suppressed.
 */
function answerWith(chain: readonly AdoptedPolicy[]): void {
  Object.assign(globalThis, { fetch: async () => Response.json(pageOf(chain)) });
  Object.assign(console, { error: () => {} });
}

/** The messages with which a device refuses. Any other error is a bug of the device. */
const REFUSALS = /^Not signed\. |^The policies from the service do not form a chain/;

/** Returns the coordinator's answer to `GET /vault/{vaultId}/policies`: the newest policy first. */
function pageOf(chain: readonly AdoptedPolicy[]) {
  return { data: chain.map(recordOf).toReversed(), nextCursor: null };
}

function recordOf({ policy, mandate }: AdoptedPolicy) {
  const shown = { version: policy.version, canonical: bytesToHex(policyBytes(policy)) };
  if (mandate === null) return { policy: shown, mandate };
  const approvals = mandate.approvals.map(({ actor, digest, device }) => {
    const signature = device === null ? null : { keyId: device.keyId, signature: device.signature };
    return { userId: actor.userId, digest, device: signature };
  });
  return { policy: shown, mandate: { canonical: bytesToHex(mandateBytes(mandate, policyHashOf(policy))), approvals } };
}
