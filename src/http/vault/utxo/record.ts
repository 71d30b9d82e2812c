import * as z from 'zod';
import type { Chain } from '#domain/asset/chain.ts';
import type { UtxoLock, WalletOutpoint } from '#domain/wallet/utxo-lock.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { problem } from '#http/encode/problem.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { creationFields } from '#http/transaction/creation.ts';

/** The body of a lock and of an unlock. */
export const outpointBody = z
  .strictObject({
    chain: creationFields.chain,
    txid: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'Must be 32 bytes in lower-case hex.')
      .meta({ description: 'Hash of the transaction that made the UTXO' }),
    vout: z.int().min(0).max(0xffff_ffff).meta({ description: 'Number of the output' }),
  })
  .meta({
    examples: [{ chain: 'bitcoin', txid: 'a12d08637156138c8c71565526b2336192e656165669669d565e2a680c6fc28b', vout: 0 }],
  });

export const lockSchema = z
  .strictObject({
    txid: z.string(),
    vout: z.int(),
    lockedBy: z.string().meta({ description: 'Id of the user' }),
    lockedAt: z.string(),
  })
  .meta({ id: 'UtxoLock' });

export function lockRecord({ outpoint, lockedBy, lockedAtMs }: UtxoLock): z.infer<typeof lockSchema> {
  const [txid = '', vout = ''] = outpoint.split(':');
  return { txid, vout: Number.parseInt(vout, 10), lockedBy, lockedAt: rfc3339(lockedAtMs) };
}

/** Returns the outpoint of a body by the canonical name of its chain, or a problem. */
export function outpointOf(
  context: HttpContext,
  { chain: name, txid, vout }: z.infer<typeof outpointBody>,
): Result<WalletOutpoint, Response> {
  const chain = utxoChainOf(context, name);
  return chain.ok ? accepted({ chain: chain.value.name, outpoint: `${txid}:${vout}` }) : chain;
}

/** Returns a chain with UTXOs, or a problem for an unknown one and for one without UTXOs. */
export function utxoChainOf(context: HttpContext, name: string): Result<Chain, Response> {
  const chain = findChain(chainsFrom(context.env), name);
  if (chain === null) {
    const fault = { pointer: '/chain', code: 'unknown-chain', detail: 'The chain is not known.' };
    return refused(invalidRequest(context, [fault]));
  }
  if (rulesFor(chain).ordering.by === 'utxos') return accepted(chain);
  return refused(problem(context, 'not-on-this-chain', { detail: `There are no UTXOs on ${chain.name}.` }));
}
