import type { Address } from '@solana/kit';
import type { ChainView, Entry } from '#local/solana/rpc.ts';
import type { FalseAnswer } from './lies.ts';
import { FAR, lyingAs } from './lies.ts';
import type { SolanaChain } from './solana-chain.ts';

const DEAR = 1_000_000n;
const AHEAD = 1_000n;
const FAR_HASH = '5'.repeat(44) as Address;
/**
 * The size of an account that holds a durable nonce, and the offset of the nonce's value, in bytes.
 */
const [NONCE_BYTES, VALUE_AT] = [80, 40];

/** Returns the view of a Solana RPC node with this lie. */
export function lyingView(chain: SolanaChain, lie: FalseAnswer, view: ChainView): ChainView {
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
    case 'false-coin':
      return view;
  }
}
