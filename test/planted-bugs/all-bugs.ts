import type { Bug } from './bug.ts';
import { BITCOIN_BUGS } from './bugs/bitcoin-bugs.ts';
import { COSIGNER_BUGS } from './bugs/cosigner-bugs.ts';
import { FEE_BUGS } from './bugs/fee-bugs.ts';
import { FLOW_BUGS } from './bugs/flow-bugs.ts';
import { ADVERSARY_BUGS } from './bugs/adversary-bugs.ts';
import { NETWORK_BUGS } from './bugs/network-bugs.ts';
import { MEMBER_BUGS } from './bugs/member-bugs.ts';
import { MESSAGE_BUGS } from './bugs/message-bugs.ts';
import { OUTSIDE_BUGS } from './bugs/outside-bugs.ts';
import { PAGE_BUGS } from './bugs/page-bugs.ts';
import { PROTOCOL_BUGS } from './bugs/protocol-bugs.ts';
import { RESERVATION_BUGS } from './bugs/reservation-bugs.ts';
import { INCLUSION_BUGS } from './bugs/inclusion-bugs.ts';
import { CORRECTION_BUGS } from './bugs/correction-bugs.ts';
import { RPC_LIE_BUGS } from './bugs/rpc-lie-bugs.ts';
import { SOLANA_BUGS } from './bugs/solana-bugs.ts';
import { STATEMENT_BUGS } from './bugs/statement-bugs.ts';
import { TIME_BUGS } from './bugs/time-bugs.ts';
import { VAULT_BUGS } from './bugs/vault-bugs.ts';
import { APPROVAL_BUGS } from './bugs/approval-bugs.ts';

/** All planted bugs, in the order in which they are planted. */
export const BUGS: readonly Bug[] = [
  ...FLOW_BUGS,
  ...FEE_BUGS,
  ...APPROVAL_BUGS,
  ...COSIGNER_BUGS,
  ...PROTOCOL_BUGS,
  ...RESERVATION_BUGS,
  ...INCLUSION_BUGS,
  ...RPC_LIE_BUGS,
  ...CORRECTION_BUGS,
  ...SOLANA_BUGS,
  ...STATEMENT_BUGS,
  ...VAULT_BUGS,
  ...TIME_BUGS,
  ...NETWORK_BUGS,
  ...MESSAGE_BUGS,
  ...OUTSIDE_BUGS,
  ...MEMBER_BUGS,
  ...PAGE_BUGS,
  ...ADVERSARY_BUGS,
  ...BITCOIN_BUGS,
];
