import { answerEsplora } from '#local/bitcoin/node.ts';
import type { BitcoinChain } from './bitcoin-chain.ts';
import { lyingServer } from './bitcoin-lies.ts';
import type { ChainApi, Query } from './chain.ts';

/** The path of a request for one transaction. */
const BY_HASH = /^\/tx\/[0-9a-f]{64}$/;

/** The REST interface of Esplora. */
export class BitcoinRest implements ChainApi {
  readonly #chain: BitcoinChain;

  constructor(chain: BitcoinChain) {
    this.#chain = chain;
  }

  methodOf({ path }: Query): string {
    // Names of addresses and transactions are no method.
    return path
      .slice(1)
      .split('/')
      .map((part) => (part.length > 30 ? '*' : part))
      .join('/');
  }

  async answer({ path, sent, behind, isForgetful, lie }: Query): Promise<Response> {
    if (isForgetful && BY_HASH.test(path)) return new Response('Not found', { status: 404 });
    const { chain, rates } = this.#chain;
    const known = behind === 0 ? chain : chain.before(behind);
    // A server that is behind still forwards transactions. The false UTXO is listed, and is in no
    // history: the simulation does not test the balances of the vault with it.
    const lieNow = lie === 'false-coin' && path.includes('/txs/') ? null : lie;
    const seen =
      lieNow === null ? { chain: known, rates } : lyingServer(lieNow, { chain: known, rates }, this.#chain.wallet);
    const view = { ...seen, send: async (raw: string) => chain.send(raw) };
    const { status, text } = await answerEsplora(view, path, sent);
    return new Response(text, { status });
  }

  complaint(): Response {
    return new Response('sendrawtransaction RPC error: {"code":-28,"message":"Loading block index…"}', { status: 400 });
  }
}
