import * as z from 'zod';
import type { WalletUtxo } from '#chains/wallet-utxo.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { pageOf } from '#http/edge/page.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { lockRecord, lockSchema, utxoChainOf } from '#http/vault/utxo/record.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const MAX_PAGE_SIZE = 100;

const CURSOR = /^[0-9]{1,16}_[0-9a-f]{64}:[0-9]{1,10}$/;

const utxosQuery = z.strictObject({
  chain: z.string().min(1).max(64),
  cursor: z.string().regex(CURSOR, 'Must be a cursor of this list.').optional(),
});

const utxoSchema = z
  .strictObject({
    txid: z.string(),
    vout: z.int(),
    amount: z.string().meta({ description: 'Satoshi' }),
    confirmations: z.int(),
    proven: z.boolean().meta({ description: 'Two servers list it alike, or the only configured one lists it' }),
    mayCarryMore: z.boolean().meta({
      description: 'Up to 10,000 satoshi on P2TR: it may carry an inscription, a rune or an ordinal. None is detected.',
    }),
    lock: lockSchema.nullable(),
    spentBy: z.string().nullable().meta({ description: 'Id of the transaction in flight whose bytes spend it' }),
  })
  .meta({ id: 'Utxo' });

const utxosSchema = z
  .strictObject({
    data: z.array(utxoSchema),
    nextCursor: z.string().nullable(),
    locks: z.array(lockSchema).meta({ description: 'Every lock of the chain, listed UTXO or not' }),
  })
  .meta({ id: 'UtxoList' });

/**
 * GET /vault/{vaultId}/utxos: returns the UTXOs of a Bitcoin wallet, the largest first, 100 per
 * page. A UTXO that a transaction in a mempool spends is not listed.
 */
export const vaultUtxos = route({
  method: 'GET',
  path: '/vault/:vaultId/utxos',
  access: 'read',
  summary: 'List the UTXOs of a Bitcoin wallet, with their locks',
  query: utxosQuery,
  answer: { status: 200, schema: utxosSchema },
  refuses: ['not-on-this-chain', 'forbidden', 'chain-not-enabled', 'wallet-not-ready', 'chain-unavailable'],
  handle: list,
});

async function list(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof utxosQuery }>,
): Promise<Response> {
  const { chain: name, cursor } = query;
  const found = utxoChainOf(context, name);
  if (!found.ok) return found.refusal;
  const chain = found.value;
  const actor = actorOf(context);
  const wallet = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'utxoWallet', chain: chain.name }),
  );
  if (!wallet.ok) return refusalProblem(context, wallet.refusal);
  const { address, locks, spending } = wallet.value;
  const listed = await chainClientFor(context.env, chain)?.utxos?.(address);
  if (listed === undefined || !listed.ok) {
    const detail = `No RPC node of ${chain.name} is available.`;
    return problem(context, 'chain-unavailable', { detail });
  }
  const rest = cursor === undefined ? listed.value : listed.value.filter((utxo) => isAfter(utxo, cursor));
  const { shown, nextCursor } = pageOf(rest, MAX_PAGE_SIZE, ({ amount, outpoint }) => `${amount}_${outpoint}`);
  const lockOf = new Map(locks.map((lock) => [lock.outpoint, lockRecord(lock)]));
  const spenderOf = new Map(spending.map(({ outpoint, transactionId }) => [outpoint, transactionId]));
  const data = shown.map(({ outpoint, isProven, ...utxo }) => ({
    ...utxo,
    proven: isProven,
    lock: lockOf.get(outpoint) ?? null,
    spentBy: spenderOf.get(outpoint) ?? null,
  }));
  return context.json({
    data,
    nextCursor,
    locks: locks.map(lockRecord),
  });
}

/** Reports whether a UTXO follows a cursor in the order of the list, which may have changed. */
function isAfter({ amount, outpoint }: WalletUtxo, cursor: string): boolean {
  const [last = '', name = ''] = cursor.split('_');
  return amount === last ? outpoint > name : BigInt(amount) < BigInt(last);
}
