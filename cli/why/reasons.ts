/**
 * What a `stateReason` of a transaction that is not finished means for an operator, in one or two
 * sentences. docs/api.md#state-reasons lists all reasons.
 */
export const REASONS: ReadonlyMap<string, string> = new Map([
  ['CANCELLING', 'A person cancelled it. The chain decides between the payment and the cancellation.'],
  ['CHAIN_NOT_CONFIGURED', 'RPC_URLS has no RPC node of this chain. Add one.'],
  ['CHAIN_UNAVAILABLE', 'No RPC node gave what signing needs. Check the RPC nodes of the chain.'],
  ['SIGNER_UNAVAILABLE', 'Too few co-signers answered, or a receipt is missing. Check the co-signers.'],
  ['WALLET_BUSY', 'The UTXOs or nonce accounts of the wallet are in use, or not deep enough. It goes on by itself.'],
  ['FUNDS_IN_FLIGHT', 'The balance does not cover it beside other transactions in flight. It waits for them.'],
  ['NONCE_UNCONFIRMED', 'RPC nodes report a nonce that is not proven. Compare the RPC nodes.'],
  ['WAITS_FOR_NONCE', 'A lower nonce of the wallet is not used yet.'],
  ['FEE_ABOVE_CAP', 'The market price is above the approved fee. It waits until the price falls.'],
  ['REBROADCASTING', 'The bytes are sent again. Nothing is to be done.'],
  ['REPRICING', 'Another attempt with a higher fee follows. Nothing is to be done.'],
  ['SIGNING_AGAIN', 'The bytes can no longer be included, and a new attempt is signed. Nothing is to be done.'],
  ['REFUSED_BY_NODE', 'An RPC node refused the newest bytes. They are offered again.'],
  ['REJECTED_BY_NODE', 'Every RPC node refuses the bytes. A member can cancel it.'],
  ['FEE_CAP_EXCEEDED', 'A further attempt would cost more than the approved fee. It waits for a lower price.'],
  ['SPEED_UP_NEEDED', 'RPC nodes require more than twice the last fee. A member can accept a higher fee, or cancel.'],
  ['INSUFFICIENT_FUNDS', 'The wallet cannot pay a further attempt. Members fund the wallet.'],
  ['NOT_AFTER_PASSED', 'Its time limit has passed. The service cancels it on the chain.'],
  [
    'NONCE_USED_UNEXPLAINED',
    'Its nonce is used, and no RPC node shows by what. It must not be paid again. Add an archive node.',
  ],
  ['COIN_UNKNOWN', 'No RPC node shows a UTXO that it spends. It must not be paid again. Compare the Bitcoin servers.'],
  ['NOT_SHOWN', 'No RPC node has shown it for an hour. Its bytes may be valid. Check the RPC nodes.'],
  ['NODES_DISAGREE', 'RPC nodes contradict each other about it. Find the wrong one, and remove it from RPC_URLS.'],
  ['REORGED', 'Its block is gone. The same bytes are sent again. Nothing is to be done.'],
  [
    'SIGNERS_REFUSED',
    'Co-signers refused a further attempt. Earlier attempts are still watched. Read the logs of the co-signers.',
  ],
  ['SIGNING_TIMEOUT', 'A further attempt was not signed in time. Earlier attempts are still watched.'],
  ['NONCE_ACCOUNT_MISSING', 'The nonce account of a further attempt is missing. Earlier attempts are still watched.'],
  ['SECOND_NODE_AWAY', 'A block has it, deep enough, and no second RPC node confirms it. Check the second RPC node.'],
]);
