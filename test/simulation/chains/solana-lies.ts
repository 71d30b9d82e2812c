import type { Address } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { bytesOf } from '#chains/solana/rules/address.ts';
import { NONCE_SLOTS, nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import type { ChainView, Entry } from '#local/solana/rpc.ts';
import type { Query } from './chain.ts';
import type { FalseAnswer } from './lies.ts';
import { FAR, lyingAs } from './lies.ts';
import type { SolanaChain } from './solana-chain.ts';

const DEAR = 1_000_000n;
/** A thousand SOL. */
const MUCH = 10n ** 12n;
const AHEAD = 1_000n;
const FAR_HASH = '5'.repeat(44) as Address;
/**
 * The size of an account that holds a durable nonce, and the offset of the nonce's value, in bytes.
 */
const [NONCE_BYTES, VALUE_AT] = [80, 40];

const SLOTS = Array.from({ length: NONCE_SLOTS }, (_, slot) => slot);

/** Returns an account with a durable nonce that never was. */
function openedBy(wallet: Address): Account {
  const data = new Uint8Array(NONCE_BYTES);
  data.set([1, 0, 0, 0, 1, 0, 0, 0]);
  data.set(bytesOf(wallet), 8);
  data.fill(9, VALUE_AT, VALUE_AT + 32);
  return { lamports: 1_447_680n, data, owner: SYSTEM_PROGRAM_ADDRESS, isExecutable: false };
}

/** Returns the view of a Solana RPC node with this lie. */
export function lyingView(
  { chain, held }: Pick<Query, 'held'> & { readonly chain: SolanaChain },
  lie: FalseAnswer,
  view: ChainView,
): ChainView {
  const inBlock = (slot: bigint) => (hash: string) => {
    const entry = view.entry(hash) ?? chain.handedIn(hash);
    return entry === null ? null : { ...entry, slot };
  };
  switch (lie) {
    case 'false-inclusion':
      return lyingAs(view, {
        entry: (hash: string): Entry | null => view.entry(hash) ?? inBlock(view.finalizedSlot)(hash),
      });
    case 'far-inclusion':
      return lyingAs(view, {
        entry: inBlock(FAR),
        slot: FAR + 200n,
        finalizedSlot: FAR + 100n,
        blockhashOf: (slot: bigint) => (slot === FAR ? FAR_HASH : view.blockhashOf(slot)),
      });
    case 'false-depth':
      return lyingAs(view, { slot: view.slot + AHEAD });
    case 'false-finality':
      return lyingAs(view, { finalizedSlot: view.slot });
    case 'false-nonce':
      return lyingAs(view, {
        account: (at: Address, slot: bigint) => {
          const account = view.account(at, slot);
          if (account?.data.length !== NONCE_BYTES) return account;
          const data = Uint8Array.from(account.data);
          data.fill(7, VALUE_AT, VALUE_AT + 32);
          return { ...account, data };
        },
      });
    case 'false-rate':
      return lyingAs(view, { price: view.price * DEAR });
    case 'false-contents': {
      const falsified = (entry: Entry): Entry => ({
        ...entry,
        fee: entry.fee * 3n,
        after: entry.after.map(({ lamports, token }) => ({
          lamports: lamports + MUCH,
          token: token === null ? null : { ...token, units: token.units + MUCH },
        })),
      });
      return lyingAs(view, {
        entry: (hash: string): Entry | null => {
          const entry = view.entry(hash);
          return entry === null ? null : falsified(entry);
        },
      });
    }
    case 'false-account': {
      const { wallet } = chain;
      const accounts = wallet === null ? [] : SLOTS.map((slot) => nonceAccountOf(wallet, slot));
      return lyingAs(view, {
        account: (at: Address, slot: bigint) =>
          view.account(at, slot) ?? (wallet !== null && accounts.includes(at) ? openedBy(wallet) : null),
      });
    }
    case 'unrelayed':
      // A slot after the newest confirmed one has no votes yet: the transaction is `processed`.
      return lyingAs(view, {
        entry: (hash: string): Entry | null =>
          view.entry(hash) ?? (held.has(hash) ? inBlock(view.slot + 1n)(hash) : null),
        send: (wire: Uint8Array) => {
          const read = chain.read(wire);
          if (read === null) return 'signature';
          held.add(read.hash);
          return { hash: read.hash };
        },
      });
    case 'false-coin':
    case 'false-gas':
    case 'old-list':
      return view;
  }
}
