import { answerEsplora } from '#local/bitcoin/node.ts';
import type { BitcoinChain } from './bitcoin-chain.ts';
import { hold, lyingServer, withHeld } from './bitcoin-lies.ts';
import type { ChainApi, Query } from './chain.ts';

/** The path of a request for one transaction. */
const BY_HASH = /^\/tx\/[0-9a-f]{64}$/;

/** The REST interface of an Esplora server of the simulated chain. */
export class BitcoinRest implements ChainApi {
  readonly #chain: BitcoinChain;

  constructor(chain: BitcoinChain) {
    this.#chain = chain;
  }

  methodOf({ path }: Query): string {
    // Replaces addresses and transaction hashes in the method name.
    return path
      .slice(1)
      .split('/')
      .map((part) => (part.length > 30 ? '*' : part))
      .join('/');
  }

  async answer({ path, sent, behind, isForgetful, lie, held }: Query): Promise<Response> {
    if (isForgetful && BY_HASH.test(path)) return new Response('Not found', { status: 404 });
    const { chain, rates } = this.#chain;
    const known =
      lie === 'unrelayed' ? withHeld(chain.before(behind), held) : behind === 0 ? chain : chain.before(behind);
    // A server that is behind still forwards transactions. The false UTXO is in the list of UTXOs
    // and in no transaction history, because the simulation does not test the vault's balances with
    // it. An old list is in no other answer.
    const isApart = lie === 'false-coin' ? path.includes('/txs/') : lie === 'old-list' && !path.endsWith('/utxo');
    const lieNow = isApart ? null : lie;
    const seen =
      lieNow === null ? { chain: known, rates } : lyingServer(lieNow, { chain: known, rates }, this.#chain.wallet);
    const send = (raw: string) => (lie === 'unrelayed' ? hold(known, held, raw) : chain.send(raw));
    const view = { ...seen, send: async (raw: string) => send(raw) };
    const { status, text } = await answerEsplora(view, path, sent);
    return new Response(text, { status });
  }

  complaint(): Response {
    return new Response('sendrawtransaction RPC error: {"code":-28,"message":"Loading block index…"}', { status: 400 });
  }
}
