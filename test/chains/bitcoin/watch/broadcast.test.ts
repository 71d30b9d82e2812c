import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientAt } from '../cast.ts';

/** Covers the answers of servers to a broadcast, and the combined outcome of two servers. */

const GENESIS = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';
const HASH = 'ab'.repeat(32);

interface Mouth {
  readonly url: string;
  readonly server: Server;
  say: string | null;
}

/**
 * Starts a server that serves its genesis block, and answers a broadcast with a given text. It
 * hangs up when the text is null.
 */
async function started(): Promise<Mouth> {
  const one: { say: string | null } = { say: null };
  const server = createServer((request, response) => {
    if (request.method === 'GET' && one.say === UNREACHABLE) response.destroy();
    else if (request.method === 'GET') response.end(GENESIS);
    else if (one.say === null) response.destroy();
    else response.writeHead(one.say === HASH ? 200 : 400).end(one.say);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return Object.assign(one, { url: `http://127.0.0.1:${bound.port}`, server });
}

let first: Mouth;
let second: Mouth;
beforeAll(async () => {
  [first, second] = [await started(), await started()];
});
afterAll(() => {
  for (const { server } of [first, second]) {
    server.closeAllConnections();
    server.close();
  }
});

/** The text with which a server is unreachable for all requests. */
const UNREACHABLE = 'away';
const core = (message: string) => `sendrawtransaction RPC error: {"code":-26,"message":"${message}"}`;

const SPENT = core('bad-txns-inputs-missingorspent');
const CHEAP = core('mempool min fee not met, 141 < 500');
const YOUNG = core('bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 7');
const WRONG = core('mandatory-script-verify-flag-failed (Invalid Schnorr signature)');

const DEAR = core('Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)');

test.each<[string, string | null, string | null, string]>([
  ['one that hangs up, and one that takes them', null, HASH, 'accepted'],
  ['one that finds them too cheap, and one that takes them', CHEAP, HASH, 'accepted'],
  ['two that find them too cheap', CHEAP, CHEAP, 'underpriced'],
  ['one that has them', core('txn-already-in-mempool'), WRONG, 'accepted'],
  ['one whose block has them', core('Transaction outputs already in utxo set'), SPENT, 'accepted'],
  ['two that report the UTXO as spent', SPENT, SPENT, 'conflicted'],
  ['one that reports it as spent, and one that calls the bytes wrong', SPENT, WRONG, 'conflicted'],
  ['two that say they are wrong', WRONG, WRONG, 'refused'],
  ['one that calls the bytes wrong, and one that hangs up', WRONG, null, 'unknown'],
  ['one that does not even report its network, and one that calls the bytes wrong', UNREACHABLE, WRONG, 'undecided'],
  ['two that find a coinbase output too young', YOUNG, YOUNG, 'unknown'],
  ['an unknown message', core('the moon is full'), WRONG, 'unknown'],
  ['two whose own limit of a fee they exceed', DEAR, DEAR, 'refused'],
  ['another hash', 'cd'.repeat(32), WRONG, 'unknown'],
])('the answers of %s give the combined outcome', async (_name, one, other, outcome) => {
  [first.say, second.say] = [one, other];
  const client = clientAt(first.url, second.url);
  expect((await client.broadcast('0x00', HASH)).outcome).toBe(outcome);
});

/** Error messages of Bitcoin Core, spelled exactly. */
test.each<[string, string]>([
  ['Transaction already in block chain', 'accepted'],
  ['txn-already-known', 'accepted'],
  // The same transaction with another witness: the mempool has its hash.
  ['txn-same-nonwitness-data-in-mempool', 'accepted'],
  ['Missing inputs', 'conflicted'],
  ['txn-mempool-conflict', 'conflicted'],
  ['bad-txns-spends-conflicting-tx, ab spends conflicting transaction cd', 'conflicted'],
  ['min relay fee not met, 100 < 141', 'underpriced'],
  ['insufficient fee, rejecting replacement ab; new feerate 0.00001 <= old feerate 0.00002', 'underpriced'],
  ['replacement-failed, insufficient feerate: does not improve feerate diagram', 'underpriced'],
  ['mempool-script-verify-flag-failed (Witness program hash mismatch)', 'refused'],
  ['bad-txns-in-belowout, value in (0.1) < value out (0.2)', 'refused'],
  ['bad-witness-nonstandard', 'refused'],
  ['scriptpubkey', 'refused'],
  ['tx-size', 'refused'],
  ['dust, tx with dust output must be 0-fee', 'refused'],
  // The next ones pass with time: other transactions have to be mined first.
  ['too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]', 'unknown'],
  ['too-large-cluster', 'unknown'],
  ['too many potential replacements, rejecting replacement ab; too many conflicting clusters', 'unknown'],
  ['TRUC-violation, non-version=3 tx ab cannot spend from version=3 tx cd', 'unknown'],
  ['non-final', 'unknown'],
  ['mempool full', 'unknown'],
])('the message %s of two servers gives the outcome %s', async (message, outcome) => {
  [first.say, second.say] = [core(message), core(message)];
  expect((await clientAt(first.url, second.url).broadcast('0x00', HASH)).outcome).toBe(outcome);
});

test('the outcome is unknown without a server', async () => {
  expect((await clientAt().broadcast('0x00', HASH)).outcome).toBe('unknown');
});
