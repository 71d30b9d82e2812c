import { type Bug } from '../bug.ts';

const PROOF = ['test/chains/bitcoin/client/utxo-proof.test.ts'];
const STATUS = ['test/chains/bitcoin/watch/utxo-status.test.ts'];
const ENDED = ['test/domain/transaction/unknown-end.test.ts'];

/** Bugs with UTXOs that do not exist, or no longer exist. */
export const UTXO_BUGS: readonly Bug[] = [
  {
    name: 'UTXOs: what a server lists is believed',
    file: 'src/chains/bitcoin/client/utxo-proof.ts',
    was: 'if (parent.value === null) unproven.add(outpointText(utxo));',
    is: 'if (parent.value === null) return accepted({ terms, parents: [] });',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: the amount and the script of a UTXO are not compared',
    file: 'src/chains/bitcoin/client/utxo-proof.ts',
    was: 'if (output.amount !== amount || !equalBytes(output.script, own)) return accepted(null);',
    is: '',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: other servers get no request',
    file: 'src/chains/bitcoin/client/utxo-proof.ts',
    was: 'if (heights.length > 0 && seen.length === 0) return accepted(null);',
    is: '',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: what a miner earned is spent at once',
    file: 'src/chains/bitcoin/client/utxo-proof.ts',
    was: 'return accepted(parent.isCoinbase && !isMature ? null : parent);',
    is: 'return accepted(isMature || !isMature ? parent : null);',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: a cancellation leaves out the first UTXO',
    file: 'src/chains/bitcoin/client/kept-utxos.ts',
    was: 'return gone[0] === true ? utxos : utxos',
    is: 'return utxos',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: a node that has less than another one says that the wallet is poor',
    file: 'src/chains/rpc/node-pool.ts',
    was: "else if (ended === null || refusal.kind === 'busy') ended = refusal;",
    is: 'else ended ??= refusal;',
    caughtBy: PROOF,
  },
  {
    name: 'UTXOs: a coinbase UTXO that is too young ends a payment',
    file: 'src/chains/bitcoin/watch/broadcast.ts',
    was: 'if (TOO_EARLY.test(answer)) return unknown(answer);',
    is: '',
    caughtBy: ['test/chains/bitcoin/watch/broadcast.test.ts'],
  },
  {
    name: 'UTXOs: P2TR without a key is paid',
    file: 'src/chains/bitcoin/rules/address.ts',
    was: 'return hasKey(network, canonical) ? accepted(canonical)',
    is: 'return hasKey(network, canonical) || true ? accepted(canonical)',
    caughtBy: ['test/chains/bitcoin/rules/address.test.ts'],
  },
  {
    name: 'UTXOs: what took the place of a deposit ends its payment before it is final',
    file: 'src/chains/bitcoin/watch/utxo-status.ts',
    was: "if (!depthOf(block, tip.value, chain).isFinal) return accepted('open');",
    is: '',
    caughtBy: STATUS,
  },
  {
    name: 'UTXOs: a lost UTXO ends a payment whose cancellation is alive',
    file: 'src/chains/bitcoin/watch/utxo-status.ts',
    was: "const OF_ATTEMPTS = ['unexplained', 'open', 'unknown', 'final'] as const;",
    is: "const OF_ATTEMPTS = ['final', 'unexplained', 'open', 'unknown'] as const;",
    caughtBy: STATUS,
  },
  {
    name: 'UTXOs: that no server shows a UTXO ends its payment',
    file: 'src/chains/bitcoin/watch/utxo-status.ts',
    was: "let status: UtxoStatus = 'unknown';",
    is: "let status: UtxoStatus = 'final';",
    caughtBy: STATUS,
  },
  {
    name: 'UTXOs: a person ends a payment whose UTXOs are known',
    file: 'src/domain/transaction/inclusion-steps.ts',
    was: 'mayEndUnknown(transaction) && transaction.stateReason === reason\n',
    is: "transaction.stateReason !== ''\n",
    caughtBy: ENDED,
  },
  {
    name: 'UTXOs: what a person ended releases its UTXOs to others while it is observed',
    file: 'src/domain/transaction/job.ts',
    was: 'return isWatchedAfterFailure(transaction) && reasons.includes(transaction.stateReason);',
    is: 'return isWatchedAfterFailure(transaction) === null && reasons.includes(transaction.stateReason);',
    caughtBy: ENDED,
  },
];
