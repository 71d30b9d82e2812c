import { statSync } from 'node:fs';
import * as z from 'zod';
import { parseAmount } from '#domain/asset/amount.ts';
import { jsonOf, reasonOf } from './package-file.ts';

/** What `recover watch` writes for the offline machine, and what that machine returns. */

export const JOB_VERSION = 1;

/** Whole parents of 50 UTXOs in each of a few dozen payments. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Of one job. The next round has the others. */
export const MAX_PAYMENTS = 200;
/** One transaction spends at most 50 UTXOs. */
const MAX_EVIDENCE = 50;
const MAX_PARENTS = 500;

const units = z.string().transform((text, context) => {
  const amount = parseAmount(text);
  if (amount !== null) return amount;
  context.addIssue({ code: 'custom', message: 'is not an amount' });
  return z.NEVER;
});
const name = z.string().min(1).max(128);
const decimal = z.string().regex(/^(?:0|[1-9][0-9]{0,77})$/, 'is not a decimal number');
const payload = z.string().regex(/^0x(?:[0-9a-f]{2})+$/, 'is not hex with 0x');
const parent = z.strictObject({ txid: name, spends: z.array(name).max(MAX_PARENTS) });

const paymentShape = {
  /** CAIP-2 */
  chain: name,
  from: name,
  to: name,
  tokenAddress: name.nullable(),
  amount: units,
  /** The account nonce, the nonce slot (Solana), or a number among the payments (Bitcoin). */
  nonce: decimal,
  /** The unsigned bytes. */
  payload,
  /** The last block that can include the bytes; null for no limit. */
  validUntil: decimal.nullable(),
  anchoredAt: decimal.optional(),
  coinParents: z.array(parent).max(MAX_PARENTS).optional(),
};

const jobPayment = z.strictObject({
  ...paymentShape,
  maxTokenFee: units.optional(),
  /** The transactions that made the UTXOs (P2WPKH), hex. */
  evidence: z.array(z.string().regex(/^(?:[0-9a-f]{2})+$/, 'is not hex')).max(MAX_EVIDENCE),
});
const signedPayment = z.strictObject({ ...paymentShape, raw: payload, hash: name });

const jobSchema = z.strictObject({
  version: z.literal(JOB_VERSION),
  payments: z.array(jobPayment).max(MAX_PAYMENTS),
});
const signedSchema = z.strictObject({
  version: z.literal(JOB_VERSION),
  transactions: z.array(signedPayment).max(MAX_PAYMENTS),
});

export type JobPayment = z.infer<typeof jobPayment>;
export type Job = z.infer<typeof jobSchema>;
export type SignedPayment = z.infer<typeof signedPayment>;

/** Returns the payments of a job file. Throws for any other file, and never with its content. */
export function jobIn(file: string): readonly JobPayment[] {
  return parsedFile(file, jobSchema, 'a job of `recover watch`').payments;
}

/** Returns the transactions that `recover sweep` wrote. Throws as `jobIn` does. */
export function signedIn(file: string): readonly SignedPayment[] {
  return parsedFile(file, signedSchema, 'an output of `recover sweep`').transactions;
}

function parsedFile<T>(file: string, schema: z.ZodType<T>, form: string): T {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`${file} has more than ${MAX_FILE_BYTES} bytes.`);
  const read = schema.safeParse(jsonOf(file));
  if (!read.success) throw new Error(`${file} is not ${form}: ${reasonOf(read.error)}`);
  return read.data;
}
