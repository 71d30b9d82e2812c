import type { Bug } from './bug.ts';
import { domain, evm } from './bug.ts';

/** Planted bugs in what is made of the words of RPC nodes, and in what is paid for inclusion on EVM chains. */
export const FEE_BUGS: readonly Bug[] = [
  {
    name: 'words of a node that no more sending can mend count as unknown',
    file: 'src/chains/evm/broadcast-error.ts',
    was: '      /gas limit too high/, // geth: above the limit of a transaction (EIP-7825)\n',
    is: '',
    caughtBy: evm('broadcast-error'),
  },
  {
    name: 'a fee above the limit of a Bitcoin node is sent for ever',
    file: 'src/chains/bitcoin/broadcast.ts',
    was: '|fee exceeds maximum configured|',
    is: '|',
    caughtBy: ['test/chains/bitcoin/broadcast.test.ts'],
  },
  {
    name: 'balances in the words of a node hide that it repeats them',
    file: 'src/domain/node-refusal.ts',
    was: 'wordingOf(before.answer) === wordingOf(answer)',
    is: 'before.answer === answer',
    caughtBy: domain('node-refusal'),
  },
  {
    name: 'a person sees the words of a node at the first refusal',
    file: 'src/domain/node-refusal.ts',
    was: 'return refusal !== null && (isUp || isRefusedRepeatedly(refusal)) ? refusal.answer : null;',
    is: 'return refusal !== null ? refusal.answer : null;',
    caughtBy: domain('node-refusal'),
  },
  {
    name: 'a record that is refused for ever never looks stuck',
    file: 'src/domain/transition.ts',
    was: "const isRepeat = event.outcome === 'unknown' && newest.sent?.outcome === 'unknown';",
    is: 'const isRepeat = false;',
    caughtBy: domain('node-refusal'),
  },
  {
    name: 'a payment that may be out is refused in a circle, for ever',
    file: 'src/domain/transition.ts',
    was: 'const isHopeless = isRefusedRepeatedly(counted.refusal ?? null) && !transaction.cancelling;',
    is: 'const isHopeless = false;',
    caughtBy: domain('node-refusal'),
  },
  {
    name: 'a payment that a node holds again is cancelled for earlier refusals',
    file: 'src/domain/transition.ts',
    was: "if (outcome === 'accepted') return refusal === null ? {} : { refusal: null };",
    is: "if (outcome === 'accepted') return {};",
    caughtBy: domain('node-refusal'),
  },
  {
    name: 'the margin of the gas crosses the limit of a transaction',
    file: 'src/chains/evm/fees.ts',
    was: 'return wanted < most ? wanted : most;',
    is: 'return wanted;',
    caughtBy: evm('fees'),
  },
];
