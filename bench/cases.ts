import { unwrap } from '#cli/api-client.ts';
import { LOCAL_MONITOR } from '#local/stack/configuration.ts';
import { pathOf, signedReport } from '#local/stack/monitor.ts';
import { request } from './load.ts';
import type { Scene } from './scene.ts';
import { UNWATCHED_CHAIN } from './scene.ts';
import { CONNECTIONS, createMessages, MESSAGE } from './messages.ts';

/** One figure: the request, its endpoint, and its baseline. */
export interface Case {
  readonly name: string;
  /** The text in the tables. */
  readonly what: string;
  readonly baseline: string | null;
  readonly port: number;
  readonly connections: number;
  /** Returns the requests for one block. */
  readonly requests: () => Promise<readonly string[]>;
  /** Whether each request works only once. */
  readonly once: boolean;
  /** True for latency at a fixed arrival rate; false for sequential requests. */
  readonly openLoop: boolean;
}

/** More deliveries than one block can process. */
const DELIVERIES_PER_BLOCK = 6_000;
/** The number of transactions of the vault whose newest fifty are listed. */
const CROWD = 100_000;
/** As many changes as the list has transactions. */
const CHANGES = 50;
/** More approvals than one block can process. */
const APPROVALS_PER_BLOCK = 2_500;

export function casesOf(scene: Scene): readonly Case[] {
  const { ports, alice, vault, slowVault, recipient } = scene;
  const always = (text: string) => async () => [text];
  const common = { connections: CONNECTIONS, once: false, openLoop: true };
  const bare = { ...common, port: ports.bare };
  const signing = { ...common, baseline: null, port: ports.sign, connections: 1, openLoop: false };
  const service = { ...common, port: ports.service };
  const { token } = alice;
  const body = {
    vaultId: slowVault.id,
    chain: UNWATCHED_CHAIN,
    message: MESSAGE,
    note: 'bench',
  };
  return [
    {
      ...bare,
      name: 'bare',
      what: 'a bare runtime: an answer',
      baseline: null,
      requests: always(request('GET /bare')),
    },
    {
      ...bare,
      name: 'bareObject',
      what: 'a bare runtime: an answer of an object',
      baseline: 'bare',
      requests: always(request('GET /object')),
    },
    {
      ...bare,
      name: 'bareObjectWrite',
      what: 'a bare runtime: a row written by an object',
      baseline: 'bare',
      requests: always(request('POST /object-write', { body })),
    },
    {
      ...bare,
      name: 'bareVote',
      what: 'a bare runtime: the rows of an approval, read and written by an object',
      baseline: 'bare',
      requests: always(request('POST /object-vote')),
    },
    {
      ...bare,
      name: 'bareList',
      what: 'a bare runtime: fifty of 100,000 rows out of D1',
      baseline: 'bare',
      requests: always(request('GET /rows')),
    },
    // Only authentication and the rate limit: the object of the token already has the response.
    {
      ...service,
      name: 'userMe',
      what: '`GET /user/me`',
      baseline: 'bareObject',
      requests: always(request('GET /user/me', { token })),
    },
    {
      ...service,
      name: 'readTransaction',
      what: '`GET /transaction/{txId}`',
      baseline: 'bareObject',
      requests: async () => {
        const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1' });
        return [request(`GET /transaction/${id}`, { token })];
      },
    },
    {
      ...service,
      name: 'listTransactions',
      what: '`GET /vault/{vaultId}/transactions`, fifty of 100,000',
      baseline: 'bareList',
      requests: async () => {
        const { id } = await scene.crowded(CROWD);
        return [request(`GET /vault/${id}/transactions?limit=50`, { token })];
      },
    },
    {
      ...service,
      name: 'readFeed',
      what: `\`GET /feed\`, ${CHANGES} changes`,
      baseline: 'listTransactions',
      requests: async () => {
        const { client } = alice;
        // A list completes the read model.
        await client.transactions(slowVault.id, { limit: '1' });
        const { cursor } = await unwrap(client.api.feed.$get({ query: { after: 'latest' } }));
        await createMessages(alice, [{ vaultId: slowVault.id, chain: UNWATCHED_CHAIN }], CHANGES);
        await client.transactions(slowVault.id, { limit: '1' });
        return [request(`GET /feed?limit=${CHANGES}&after=${cursor}`, { token })];
      },
    },
    {
      ...service,
      name: 'createMessage',
      what: '`POST /transaction/message`',
      baseline: 'bareObjectWrite',
      requests: always(request('POST /transaction/message', { token, body })),
    },
    {
      ...service,
      name: 'approve',
      what: '`POST /transaction/{txId}/approve`',
      baseline: 'bareVote',
      once: true,
      requests: async () => {
        const ids = await createMessages(
          alice,
          [{ vaultId: slowVault.id, chain: UNWATCHED_CHAIN }],
          APPROVALS_PER_BLOCK,
        );
        return ids.map((id) => request(`POST /transaction/${id}/approve`, { token }));
      },
    },
    // The response means verified, stored and queued; the queue processes the delivery separately.
    {
      ...service,
      name: 'receiveWebhook',
      what: '`POST /webhook/{provider}/{endpointId}`',
      baseline: 'bareObjectWrite',
      once: true,
      requests: async () => Array.from({ length: DELIVERIES_PER_BLOCK }, (_, i) => delivery(scene.monitorSecret, i)),
    },
    {
      ...signing,
      name: 'bareSignature',
      what: 'a bare runtime: the calls, bodies and rows of a signature by ECDSA, 2 of 3',
      port: ports.bare,
      requests: always(request('POST /signature')),
    },
    {
      ...signing,
      name: 'signEcdsa',
      what: 'a signature by ECDSA, 2 of 3, with all checks',
      baseline: 'bareSignature',
      requests: always(request('POST /ecdsa-secp256k1')),
    },
    {
      ...signing,
      name: 'signEcdsaReceipts',
      what: 'the same with a receipt of the third co-signer (`signOnce: every-cosigner`)',
      baseline: 'signEcdsa',
      requests: always(request('POST /ecdsa-secp256k1/receipts')),
    },
    {
      ...signing,
      name: 'signEcdsa3of4',
      what: 'a signature by ECDSA, 3 of 4, with all checks',
      baseline: 'signEcdsa',
      port: ports.signFour,
      requests: always(request('POST /ecdsa-secp256k1')),
    },
    {
      ...signing,
      name: 'signEd25519',
      what: 'a signature by FROST on Ed25519, 2 of 3, with all checks',
      requests: always(request('POST /frost-ed25519')),
    },
    {
      ...signing,
      name: 'signBip340',
      what: 'a proof by FROST for BIP-340',
      requests: always(request('POST /frost-secp256k1-tr')),
    },
  ];
}

/**
 * Returns a delivery for an unknown chain: processing it is one table lookup, and the node is not
 * measured.
 */
function delivery(secret: string, number: number): string {
  const txHash = `0x${number.toString(16).padStart(64, '0')}`;
  const { body, headers } = signedReport(secret, { txHash, chain: 'eip155:999999' });
  return request(`POST ${pathOf({ endpointId: LOCAL_MONITOR })}`, { body, headers });
}
