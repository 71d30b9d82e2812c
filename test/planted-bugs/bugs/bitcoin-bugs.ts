import type { Bug } from '../bug.ts';
import { domain } from '../bug.ts';

const RATES = ['test/chains/bitcoin/client/fee-rates.test.ts'];
const REPLACEMENT = ['test/chains/bitcoin/client/replacement.test.ts'];
const UTXOS = ['test/chains/bitcoin/client/utxos.test.ts'];
const SELECTION = ['test/chains/bitcoin/client/coin-selection.test.ts'];

const PROOF = ['test/chains/bitcoin/client/utxo-proof.test.ts'];
const STATUS = ['test/chains/bitcoin/watch/utxo-status.test.ts'];
const ENDED = ['test/domain/transaction/unknown-end.test.ts'];

/**
 * Bugs with UTXOs that do not exist, or no longer exist, and in the selection and fees on Bitcoin:
 * the wallet locks too much, pays too much, or cannot make a payment that it could afford.
 */
export const BITCOIN_BUGS: readonly Bug[] = [
  {
    name: 'UTXOs: a small payment locks the largest UTXO',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'for (const utxo of free) {',
    is: 'for (const utxo of free.toReversed()) {',
    caughtBy: SELECTION,
  },
  {
    name: 'UTXOs: a UTXO that costs more than its amount is spent',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'return amount > feeAt(rate, virtualBytes(inputWeightOf(own)));',
    is: 'return amount > feeAt(0n * rate, virtualBytes(inputWeightOf(own)));',
    caughtBy: SELECTION,
  },
  {
    name: 'UTXOs: more than one transaction can spend',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'if (utxos.length >= maxInputsOf(payment.own)) return null;',
    is: '',
    caughtBy: SELECTION,
  },
  {
    name: 'UTXOs: the search for a set without change takes one with change',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'if (found === null || found.change > 0n) return best;',
    is: 'if (found === null || found.change === 0n) return best;',
    caughtBy: SELECTION,
  },
  {
    name: 'UTXOs: the order in which a server lists them decides',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'return outpointText(a) < outpointText(b) ? -1 : 1;',
    is: 'return 0;',
    caughtBy: SELECTION,
  },
  {
    name: 'replacement: what hangs on the old one is not paid for',
    file: 'src/chains/bitcoin/client/replacement.ts',
    was: 'maxBigint(fee, demand.conflictingFees) + relay,',
    is: 'fee + relay,',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: a larger one has the lower rate',
    file: 'src/chains/bitcoin/client/replacement.ts',
    was: 'feeAt(oldRate + 1n, size),',
    is: '',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: a full mempool is approached in steps',
    file: 'src/chains/bitcoin/client/replacement.ts',
    was: 'scaled(demand.minimumFee, virtualSize, size),',
    is: '',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: RPC nodes raise the fee as far as they like',
    file: 'src/domain/wallet/fee-bump-limit.ts',
    was: 'return base === undefined ? null : unitsOf(base.maxFee) * MAX_RAISE;',
    is: 'return base === undefined || MAX_RAISE > 0n ? null : unitsOf(base.maxFee);',
    caughtBy: domain('wallet/fee-bump-limit'),
  },
  {
    name: 'replacement: each raise allows the next one',
    file: 'src/domain/wallet/fee-bump-limit.ts',
    was: 'const lastRequested = attempts.findLastIndex(({ purpose }, i) => !isRaisedByNodes(attempts[i - 1], purpose));',
    is: 'const lastRequested = attempts.length - 1;',
    caughtBy: domain('wallet/fee-bump-limit'),
  },
  {
    name: 'replacement: the request of a person for a higher fee is ignored',
    file: 'src/domain/transaction/transition.ts',
    was: 'answer, isAsked: true as const };',
    is: 'answer };',
    caughtBy: domain('wallet/fee-bump-limit'),
  },
  {
    name: 'fees: a server without rates means one satoshi on mainnet',
    file: 'src/chains/bitcoin/client/fee-rates.ts',
    was: 'if (!rates.ok || rates.value.size > 0 || isBitcoinTestNetwork(caip2)) return rates;',
    is: "if (!rates.ok || rates.value.size > 0 || caip2 !== '') return rates;",
    caughtBy: RATES,
  },
  {
    name: 'fees: one odd entry takes all rates away',
    file: 'src/chains/bitcoin/client/rpc-calls.ts',
    was: 'if (found !== undefined) rates.set(Number.parseInt(blocks, 10), found);',
    is: 'if (found === undefined) return undefined;\n    rates.set(Number.parseInt(blocks, 10), found);',
    caughtBy: RATES,
  },
  {
    name: 'fees: the configured rate is not used',
    file: 'src/chains/bitcoin/client/fee-rates.ts',
    was: 'if (chain.fallbackFeeRate !== undefined) {',
    is: "if (chain.fallbackFeeRate === '') {",
    caughtBy: RATES,
  },
  {
    name: 'fees: a rate for later blocks alone counts as none',
    file: 'src/chains/bitcoin/rules/fee-rate.ts',
    was: 'named.findLast((target) => target <= blocks) ?? named[0];',
    is: 'named.findLast((target) => target <= blocks);',
    caughtBy: RATES,
  },
  {
    name: 'fee cap: co-signers do not check the size',
    file: 'src/chains/inspect/fee-ceiling.ts',
    was: "if (ceilings.has(chain) || !('virtualSize' in payload)) return false;",
    is: "if (ceilings.has(chain) || chain !== '' || !('virtualSize' in payload)) return false;",
    caughtBy: ['test/attacks/coordinator/payload/fee-above-size-cap.test.ts'],
  },
  {
    name: 'fee cap: one of many UTXOs may pay no more than one of one',
    file: 'src/domain/wallet/fee-cap.ts',
    was: 'return bySize > SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;',
    is: 'return bySize < SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;',
    caughtBy: domain('wallet/fee-cap'),
  },
  {
    name: 'fee cap: a transaction fails for a price that may fall',
    file: 'src/domain/wallet/fee-cap.ts',
    was: "return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length === 0;",
    is: "return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length > 0;",
    caughtBy: domain('wallet/fee-cap'),
  },
  {
    name: 'many UTXOs: one that was spent counts',
    file: 'src/chains/bitcoin/client/utxos.ts',
    was: 'return accepted(utxos.filter((utxo) => !spent.has(outpointText(utxo))));',
    is: 'return accepted(utxos.filter((utxo) => outpointText(utxo) !== String(spent.size)));',
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: one that a waiting transaction spends counts',
    file: 'src/chains/bitcoin/client/utxos.ts',
    was: 'new Set([...waiting.value, ...transfers]',
    is: 'new Set([...transfers]',
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: the whole history is read, however long it is',
    file: 'src/chains/bitcoin/client/utxos.ts',
    was: 'page < MAX_PAGES && !isWhole;',
    is: 'page < MAX_PAGES * 1000 && !isWhole;',
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: what spends a UTXO may be on the page that is not read',
    file: 'src/chains/bitcoin/client/utxos.ts',
    was: '(transfer.block?.hash === oldest ? [] : madeFor(address, transfer))',
    is: "(transfer.block?.hash === '' ? [] : madeFor(address, transfer))",
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: too many small ones are called too little',
    file: 'src/chains/bitcoin/client/missing-funds.ts',
    was: 'if (worthy.length > most && left(worthy) >= amount) {',
    is: 'if (worthy.length > most && left(worthy) < amount) {',
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: a consolidation spends the UTXOs of others',
    file: 'src/chains/bitcoin/client/quote.ts',
    was: 'const joined = smallestUtxos(payment.value.own, shown,',
    is: 'const joined = smallestUtxos(payment.value.own, others,',
    caughtBy: UTXOS,
  },
  {
    name: 'many UTXOs: a consolidation joins what costs more than its amount',
    file: 'src/chains/bitcoin/client/coin-selection.ts',
    was: 'const worthy = free.filter((utxo) => isEconomical(own, utxo, rate)).toSorted(byAmount);',
    is: 'const worthy = free.filter((utxo) => isEconomical(own, utxo, 0n * rate)).toSorted(byAmount);',
    caughtBy: UTXOS,
  },
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
