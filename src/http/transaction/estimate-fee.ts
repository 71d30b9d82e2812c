import * as z from 'zod';
import type { FeeTier } from '#chains/chain-client.ts';
import { assetRecord, assetSchema } from '#http/encode/asset.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { largestFeeFor, suggestedMaxFee } from '#domain/wallet/fee-cap.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import {
  CREATION_REFUSALS,
  addressField,
  amountField,
  targetFields,
  chainProblem,
  nodeProblem,
  readCreation,
  rulesOf,
} from '#http/transaction/creation.ts';
import { lockedUtxosOf } from '#http/transaction/locked-utxos.ts';
import { readTransfer, paymentFields } from '#http/transaction/transfer.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const estimateBody = z
  .strictObject({
    ...targetFields,
    to: addressField,
    amount: amountField,
    /** Ours: the gas of a token transfer differs from that of a native payment. */
    tokenAddress: addressField.nullish(),
    ...paymentFields,
    acceptLookalikeOf: addressField.nullish(),
  })
  .meta({
    examples: [
      { vaultId: 1, chain: 'ethereum', to: '0x52908400098527886E0F7030069857D2E4169EE7', amount: '250000000000000000' },
      {
        vaultId: 1,
        chain: 'ethereum',
        to: '0x52908400098527886E0F7030069857D2E4169EE7',
        amount: '1500000',
        tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      },
    ],
  });

const fees = {
  expectedFee: z.string().meta({ description: 'Fee at the current price' }),
  maxFee: z.string().meta({ description: 'The most that the chain takes for the first attempt at this price' }),
  suggestedMaxFee: z.string().meta({
    description:
      'The maxFee to create the transfer with: three times the maxFee here, which leaves room for speed-ups and for a ' +
      'price that rises while signers approve, and at most the fee cap of the chain and of the policy',
  }),
};
const terms = {
  chain: z.string(),
  feeAsset: assetSchema,
};

const gasTier = z.strictObject({ maxFeePerGas: z.string(), maxPriorityFeePerGas: z.string(), ...fees });
const gasEstimate = z.strictObject({
  ...terms,
  gasLimit: z.string(),
  dataFee: z
    .string()
    .meta({ description: 'Fee of OP-stack chains for the data on Ethereum; included in every fee here' }),
  slow: gasTier,
  normal: gasTier,
  fast: gasTier,
});

const unitTier = z.strictObject({
  unitPrice: z.string().meta({ description: 'Millionths of a lamport per compute unit' }),
  ...fees,
});
const unitEstimate = z.strictObject({
  ...terms,
  unitLimit: z.string().meta({ description: 'Compute units' }),
  accountRent: z.string().meta({ description: 'Lamports that newly opened accounts hold; included in every fee here' }),
  tokenFee: z.string().meta({
    description:
      'Units that the token withholds from the recipient, out of the amount, now or from the next epochs on; a ' +
      'payment allows it with maxTokenFee',
  }),
  slow: unitTier,
  normal: unitTier,
  fast: unitTier,
});

const rateTier = z.strictObject({
  feeRate: z.string().meta({ description: 'Thousandths of a satoshi per virtual byte' }),
  ...fees,
});
const sizeEstimate = z.strictObject({
  ...terms,
  virtualSize: z.string().meta({ description: 'Virtual bytes' }),
  slow: rateTier,
  normal: rateTier,
  fast: rateTier,
});

/** One schema for each family of chains: EVM, Solana, Bitcoin. */
const estimateSchema = z.union([gasEstimate, unitEstimate, sizeEstimate]).meta({ id: 'FeeEstimate' });

/**
 * Limits that include fees count the `maxFee` of the transfer, which the caller chooses after the
 * estimate. The fee cap in its place would refuse an estimate of what can be created.
 */
const MIN_FEE = { maxFee: amountOf(1n) } as const;

const NEVER_ESTIMATED: ReadonlySet<string> = new Set([
  'idempotency-key-reused',
  'external-id-taken',
  // The answer names the fees to allow.
  'max-fee-above-cap',
  'max-fee-too-low',
  // Every chain supports transfers.
  'not-on-this-chain',
]);

/**
 * POST /transaction/estimate-fee: returns the slow, normal and fast fees of a transfer at current
 * prices. It stores nothing and counts as a read.
 */
export const estimateFee = route({
  method: 'POST',
  path: '/transaction/estimate-fee',
  access: 'read',
  summary: 'Estimate the fees of a transfer (slow, normal, fast)',
  body: estimateBody,
  answer: { status: 200, schema: estimateSchema },
  refuses: CREATION_REFUSALS.filter((code) => !NEVER_ESTIMATED.has(code)),
  handle: estimate,
});

async function estimate(context: HttpContext, { body }: Input<{ body: typeof estimateBody }>): Promise<Response> {
  const rules = rulesOf(context, body);
  if (!rules.ok) return invalidRequest(context, rules.refusal);
  const read = readCreation(rules.value, body, readTransfer(body));
  if (!read.ok) return invalidRequest(context, read.refusal);
  const { vaultId, creation } = read.value;
  const actor = actorOf(context);
  const rehearsed = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'previewCreation', request: { ...creation, ...MIN_FEE, idempotency: null } }),
  );
  if (!rehearsed.ok) return refusalProblem(context, rehearsed.refusal);
  const { transaction, policy } = rehearsed.value.view;
  const { intent } = transaction;
  const { chain } = rules.value;
  const client = chainClientFor(context.env, chain);
  if (client === null || intent.kind === 'message') return nodeProblem(context, chain);
  const estimated = await client.estimate(intent, await lockedUtxosOf(context, { chain, vaultId }));
  if (!estimated.ok) return chainProblem(context, estimated.refusal);
  const { slow, normal, fast, ...size } = estimated.value;
  const virtualSize = 'virtualSize' in size ? BigInt(size.virtualSize) : null;
  const largest = largestFeeFor(chain, policy.rules, virtualSize);
  const tier = <T extends FeeTier>(one: T) => ({ ...one, suggestedMaxFee: suggestedMaxFee(one.maxFee, largest) });
  return context.json({
    chain: chain.name,
    feeAsset: assetRecord(null, { chain, rules: policy.rules }),
    ...size,
    slow: tier(slow),
    normal: tier(normal),
    fast: tier(fast),
  });
}
