import type { Bug } from '../bug.ts';

/**
 * Bugs by which a record or a balance takes, or keeps, what the chain does not have: a correction
 * by one RPC node, a reading that does not cover an asset, one wrong price.
 */
export const CORRECTION_BUGS: readonly Bug[] = [
  {
    name: 'acknowledgements: the RPC node that has the payment leaves the call open',
    file: 'src/chains/rpc/observation-quorum.ts',
    was: '...(silent.length === 0 ? {} : { unansweredBy: silent }),',
    is: '',
    caughtBy: ['test/chains/rpc/observation-quorum.test.ts'],
  },
  {
    name: 'prices: what a wrong price hid stays hidden',
    file: 'src/domain/activity/listing.ts',
    was: "reason === 'LOW_VALUE' && hasValue(tokenAddress)",
    is: "reason === 'ZERO_VALUE' && hasValue(tokenAddress)",
    caughtBy: ['test/objects/vault/writes/priced-records.test.ts'],
  },
  {
    name: 'corrections: one RPC node replaces the contents of a final record',
    file: 'src/domain/activity/activity.ts',
    was: 'const isCorrection = isEnded && proof.isByTwo &&',
    is: 'const isCorrection = isEnded &&',
    caughtBy: ['test/objects/vault/commands/corrections.test.ts'],
  },
  {
    name: 'corrections: RPC nodes without the history of a final block remove its payment',
    file: 'src/chains/rpc/activity-quorum.ts',
    was: "denialOf(answer) === 'block'));",
    is: 'denialOf(answer) !== null));',
    caughtBy: ['test/chains/rpc/activity-quorum.test.ts'],
  },
  {
    name: 'corrections: a node that leaves out a payment by a contract removes it from a final record',
    file: 'src/chains/contents.ts',
    was: 'return traced.length > 1 && texts.size === 1;',
    is: 'return traced.length > 1;',
    caughtBy: ['test/chains/rpc/activity-quorum.test.ts'],
  },
  {
    name: 'holdings: one of two nodes chooses the block of the balance',
    file: 'src/objects/vault/commands/balance.ts',
    was: ' || movesWithin(storage, asset, reading)',
    is: '',
    caughtBy: ['test/chains/rpc/readings.test.ts'],
  },
  {
    name: 'holdings: a token that one node alone covers counts as proven',
    file: 'src/chains/rpc/holdings-quorum.ts',
    was: 'if (other === undefined || !isAlike(one, other)) return NOT_READ;',
    is: 'if (other === undefined) return one;\n  if (!isAlike(one, other)) return NOT_READ;',
    caughtBy: ['test/chains/solana/watch/token-2022.test.ts'],
  },
  {
    name: 'holdings: an account that cannot be read counts as empty',
    file: 'src/chains/solana/watch/holdings.ts',
    was: 'if (held?.owner !== wallet) return null;',
    is: 'if (held?.owner !== wallet) continue;',
    caughtBy: ['test/chains/solana/watch/token-2022.test.ts'],
  },
];
