import { bytesToHex } from '@noble/hashes/utils.js';
import { keyProofDigest } from '#cosigner/key/proof-digest.ts';
import { refusal, type Refused } from '#cosigner/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Dealer } from './key-holders.ts';

interface Opened {
  readonly path: string;
  readonly request: { readonly epoch?: number; readonly signers?: readonly number[] };
}

/**
 * The shares and pairs of one simulated co-signer, as a key refresh sees them. Each protocol has
 * one round, and the whole key stays with its dealer.
 */
export class SimulatedShares {
  readonly #index: number;
  readonly #opened = new Map<string, Opened>();
  /** By the number of the peer. */
  readonly #setups = new Map<string, string>();
  /** By key: the epoch in use, and those that wait. */
  readonly #epochs = new Map<string, { active: number; waiting: readonly number[] }>();

  constructor(index: number) {
    this.#index = index;
  }

  /** Returns the answer to `pairs/status`. */
  pairs() {
    return Object.fromEntries([...this.#setups].map(([peer, setupId]) => [peer, { banned: false, setupId }]));
  }

  /** Returns the answer to `key/{keyId}/shares`. */
  held({ keyId, publicKey }: Dealer) {
    const { active, waiting } = this.#epochsOf(keyId);
    const publicShares = Object.fromEntries([1, 2, 3].map((index) => [String(index), bytesToHex(publicKey)]));
    return [active, ...waiting].map((epoch) => ({
      epoch,
      isActive: epoch === active,
      statement: `dealing of ${keyId}, epoch ${epoch}`,
      publicShares,
      receipts: { [this.#index]: `receipt of ${this.#index} for epoch ${epoch}` },
    }));
  }

  activate(keyId: string, epoch: number): Result<unknown, Refused> {
    const { waiting } = this.#epochsOf(keyId);
    if (!waiting.includes(epoch)) return refused(refusal('malformed', 'epoch'));
    this.#epochs.set(keyId, { active: epoch, waiting: waiting.filter((one) => one > epoch) });
    return accepted({});
  }

  /** Opens or starts a run of a pairing, a dealing, or a proof. */
  run(path: string, body: unknown, dealer: Dealer | undefined): Result<unknown, Refused> {
    if (path.endsWith('/open')) {
      const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
      this.#opened.set(nonce, { path, request: (body as { request: Opened['request'] }).request });
      return accepted({ nonce, opening: '' });
    }
    const { nonces } = body as { nonces: Readonly<Record<string, string>> };
    const opened = this.#opened.get(nonces[String(this.#index)] ?? '');
    if (opened === undefined) return refused(refusal('unknown-session'));
    const sid = Object.values(nonces).toSorted().join('').slice(0, 64);
    return accepted({ sid, result: this.#resultOf(opened, sid, dealer) });
  }

  #resultOf({ path, request }: Opened, sid: string, dealer: Dealer | undefined) {
    const [protocol, name = ''] = path.split('/');
    const { epoch = 0, signers = [] } = request;
    if (protocol === 'pair') {
      this.#setups.set(name, sid);
      return {};
    }
    if (dealer === undefined) throw new Error(`there is no key ${name}`);
    if (protocol === 'proof') {
      const turn = { sid, chain: null, signers: signers.length };
      const partial = dealer.partial(turn, keyProofDigest(dealer.keyId), signers.indexOf(this.#index));
      return { partial: bytesToHex(partial) };
    }
    const { active, waiting } = this.#epochsOf(name);
    this.#epochs.set(name, { active, waiting: [...waiting, epoch] });
    return {};
  }

  #epochsOf(keyId: string) {
    return this.#epochs.get(keyId) ?? { active: 1, waiting: [] };
  }
}
