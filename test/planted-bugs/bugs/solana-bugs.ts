import type { Bug } from '../bug.ts';

const SOURCE = ['test/chains/solana/client/source.test.ts'];
const FOREIGN = ['test/attacks/coordinator/payload/foreign-token-account.test.ts'];
const HIDDEN_FEE = ['test/attacks/coordinator/payload/hidden-token-fee.test.ts'];
const MEMO = ['test/attacks/coordinator/payload/changed-memo.test.ts'];
const KEYLESS = ['test/attacks/coordinator/payload/keyless-recipient.test.ts'];
const NETWORK = ['test/local/solana/solana-network.test.ts'];
const PRICE = ['test/chains/solana/client/price.test.ts'];

/** Bugs in the cost, the accounts, the memo and the recipients of a payment on Solana. */
export const SOLANA_BUGS: readonly Bug[] = [
  {
    name: 'solana: an expired blockhash doubles the price',
    file: 'src/chains/solana/client/price.ts',
    was: 'const isRaised = replaced !== null && !replaced.hasLapsed;',
    is: 'const isRaised = replaced !== null;',
    caughtBy: PRICE,
  },
  {
    name: 'solana: a further attempt pays less than co-signers sign',
    file: 'src/chains/solana/client/price.ts',
    was: 'isRaised ? 2n * replaced.paid : 0n), least);',
    is: 'isRaised ? 2n * replaced.paid : 0n), 0n);',
    caughtBy: PRICE,
  },
  {
    name: 'solana: the price leaves the fee cap',
    file: 'src/chains/solana/client/price.ts',
    was: 'return requested < most ? requested : most;',
    is: 'return requested;',
    caughtBy: PRICE,
  },
  {
    name: 'solana: only the accounts of a payment are asked for prices',
    file: 'src/chains/solana/client/quote.ts',
    was: 'paid: prices.map((answer) => (answer.ok ? answer.value : [])),',
    is: 'paid: prices.slice(0, 1).map((answer) => (answer.ok ? answer.value : [])),',
    caughtBy: PRICE,
  },
  {
    name: 'solana: a wallet cannot send its last lamport',
    file: 'src/chains/solana/client/quote.ts',
    was: '(error === RENT_OF_PAYER && units > 0n)',
    is: 'units < 0n',
    caughtBy: ['test/chains/solana/chain-client.test.ts'],
  },
  {
    name: 'solana: a wallet keeps less than an account must hold',
    file: 'src/chains/solana/client/quote.ts',
    was: 'if (left > 0n && left < leastBalance) {',
    is: 'if (left < 0n) {',
    caughtBy: ['test/chains/solana/chain-client.test.ts'],
  },
  {
    name: 'solana: the delegate of a source account may pay',
    file: 'src/chains/solana/rules/transaction.ts',
    was: '...(token.source === undefined ? [] : [revoked]),',
    is: '',
    caughtBy: FOREIGN,
  },
  {
    name: 'solana: a token may withhold more than was approved',
    file: 'src/chains/solana/rules/payload.ts',
    was: 'BigInt(intent.maxTokenFee ?? 0)) return',
    is: 'BigInt(intent.maxTokenFee ?? intent.amount)) return',
    caughtBy: HIDDEN_FEE,
  },
  {
    name: 'solana: payments of Token-2022 state no fee',
    file: 'src/chains/solana/rules/transaction.ts',
    was: 'withheld === undefined ? checked : {',
    is: 'withheld === undefined || withheld === 0n ? checked : {',
    caughtBy: HIDDEN_FEE,
  },
  {
    name: 'solana: the account of the recipient pays itself',
    file: 'src/chains/solana/rules/transaction.ts',
    was: 'return !associated.includes(token.source);',
    is: 'return token.source !== associated[0];',
    caughtBy: FOREIGN,
  },
  {
    name: 'solana: an account that was only delegated counts as the wallet’s own',
    file: 'src/chains/solana/client/source.ts',
    was: 'return account !== null && account.owner === wallet && !account.isFrozen;',
    is: 'return account !== null && wallet.length > 0 && !account.isFrozen;',
    caughtBy: SOURCE,
  },
  {
    name: 'solana: only the associated account of a token can pay',
    file: 'src/chains/solana/client/source.ts',
    was: '.filter((other) => other.account.units >= units)',
    is: '.filter((other) => other.account.units < 0n)',
    caughtBy: SOURCE,
  },
  {
    name: 'solana: a memo is not under the approvals',
    file: 'src/domain/transaction/intent.ts',
    was: "...(memo === undefined ? [] : [['memo', memo] as const]),",
    is: '',
    caughtBy: MEMO,
  },
  {
    name: 'solana: a memo is not in the bytes',
    file: 'src/chains/solana/rules/transaction.ts',
    was: 'const memos = memo === null ? [] : [memoInstruction(memo)];',
    is: 'const memos: Instruction[] = memo === null ? [] : [];',
    caughtBy: MEMO,
  },
  {
    name: 'solana: any text is a memo',
    file: 'src/chains/solana/rules/payload.ts',
    was: 'if ((memo !== undefined && memoFault(memo) !== null) || !isAcknowledged(intent)) return null;',
    is: 'if (!isAcknowledged(intent)) return null;',
    caughtBy: MEMO,
  },
  {
    name: 'solana: a payment of another chain takes a memo that it does not carry',
    file: 'src/chains/evm/rules/call.ts',
    was: '[paysFor, memo, recipientMayHaveNoKey, maxTokenFee].some',
    is: '[paysFor, recipientMayHaveNoKey, maxTokenFee].some',
    caughtBy: MEMO,
  },
  {
    name: 'solana: an address without a key is paid without an acknowledgement',
    file: 'src/chains/solana/rules/payload.ts',
    was: 'return recipient.ok && recipientMayHaveNoKey === (recipient.value.mayHaveNoKey ? true : undefined);',
    is: 'return recipient.ok;',
    caughtBy: KEYLESS,
  },
  {
    name: 'solana: an acknowledgement is not under the approvals',
    file: 'src/domain/transaction/intent.ts',
    was: "...(recipientMayHaveNoKey === undefined ? [] : [['recipientMayHaveNoKey', String(recipientMayHaveNoKey)] as const]),",
    is: '',
    caughtBy: KEYLESS,
  },
  {
    name: 'solana: signers are not warned of an address without a key',
    file: 'src/chains/inspect/warnings.ts',
    was: 'if (recipientMayHaveNoKey === undefined) return [];',
    is: 'if (recipientMayHaveNoKey !== false) return [];',
    caughtBy: KEYLESS,
  },
  {
    name: 'solana: more attempts than a node returns at once are requested at once',
    file: 'src/chains/solana/client/rpc-calls.ts',
    was: 'export const MAX_STATUSES = 256;',
    is: 'export const MAX_STATUSES = 1_000;',
    caughtBy: NETWORK,
  },
];
