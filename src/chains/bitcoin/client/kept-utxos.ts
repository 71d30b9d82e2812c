import { hexToBytes } from '@noble/hashes/utils.js';
import type { ProofServers } from '#chains/bitcoin/client/utxo-proof.ts';
import { getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/**
 * Returns the UTXOs of an attempt that its replacement spends: all of them, in their order. A
 * cancellation leaves out UTXOs whose transaction no server shows, because it could never be
 * included with them. The first UTXO stays: it is part of every attempt, and co-signers sign no
 * replacement without it. When no server shows the first one, nothing is left out.
 */
export async function keptUtxos(
  servers: ProofServers,
  replaced: Pick<Attempt, 'payload'>,
  payment: Payment,
): Promise<readonly Utxo[]> {
  const utxos = utxosIn(hexToBytes(replaced.payload.slice(2)));
  const [first, ...rest] = utxos;
  if (payment.to !== null || first === undefined || rest.length === 0) return utxos;
  const nodes = [servers.node, ...(await servers.others())];
  const isGone = async ({ txid }: Utxo) => {
    const answers = await Promise.all(nodes.map((node) => node.request(getTransaction(txid))));
    const answered = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    return answered.length > 0 && answered.every((transaction) => transaction === null);
  };
  const absent = await Promise.all(utxos.map(isGone));
  return absent[0] === true ? utxos : utxos.filter((_, i) => absent[i] !== true);
}
