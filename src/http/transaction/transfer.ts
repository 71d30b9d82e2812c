import * as z from 'zod';
import { adapterFor } from '#chains/adapters.ts';
import type { ChainAdapter } from '#chains/chain-adapter.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { parseAmount } from '#domain/amount.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext, Route } from '#http/context.ts';
import { actorOf } from '#http/context.ts';
import { idempotencyOf } from '#http/idempotency.ts';
import { askObject } from '#http/object-call.ts';
import { plainText } from '#http/plain-text.ts';
import type { FieldFault } from '#http/problem.ts';
import { refusalProblem } from '#http/problem.ts';
import { check, invalidRequest, jsonBody } from '#http/request-check.ts';
import { recordOf } from '#http/transaction/view.ts';
import type { TransferRequest } from '#objects/new-transfer.ts';

const transferBody = z.strictObject({
  vaultId: z.int().positive(),
  chain: z.string().min(1).max(64),
  to: z.string().min(1).max(128),
  amount: z.string().min(1).max(128),
  tokenAddress: z.string().min(1).max(128).nullish(),
  note: plainText(500).nullish(),
  externalId: z
    .string()
    .regex(/^[!-~]{1,128}$/, 'has 1 to 128 printable ASCII characters')
    .nullish(),
});

type TransferBody = z.infer<typeof transferBody>;

/**
 * POST /transaction/transfer (spec part 4): creates a transfer of the native asset or of a token.
 *
 * 201 with the record. Refuses, in order: the credential, `body-too-large`, `unsupported-media-type`, `malformed-json`,
 * `invalid-request`, `forbidden`, `idempotency-key-reused`, `external-id-taken`, `chain-not-enabled`, `wallet-not-ready`,
 * `too-many-pending`. An Idempotency-Key that comes again answers as the first time, marked `Idempotency-Replayed`.
 */
export const transfer: Route = {
  method: 'POST',
  path: '/transaction/transfer',
  access: 'write',
  checks: [...jsonBody, check('json', transferBody)],
  handle: createTransfer,
};

async function createTransfer(context: HttpContext): Promise<Response> {
  const body = transferBody.parse(await context.req.json());
  const read = readTransfer(context, body);
  if (!read.ok) return invalidRequest(context, read.refusal);
  const idempotency = await idempotencyOf(context);
  if (idempotency === 'malformed') {
    const detail = 'has 1 to 64 letters, digits or . _ : / = + -';
    return invalidRequest(context, [{ pointer: 'Idempotency-Key', code: 'malformed', detail }]);
  }
  const actor = actorOf(context);
  const created = await askObject(
    () => context.env.VAULT.getByName(`vault:${body.vaultId}`),
    (vault) => vault.createTransfer(actor, { ...read.value, idempotency }),
  );
  if (!created.ok) return refusalProblem(context, created.refusal);
  const { view, replayed } = created.value;
  if (replayed) context.header('idempotency-replayed', 'true');
  context.header('location', `/transaction/${view.transaction.id}`);
  return context.json(recordOf(context, view), 201);
}

/** The body with every value parsed by its chain. */
function readTransfer(
  context: HttpContext,
  body: TransferBody,
): Result<Omit<TransferRequest, 'idempotency'>, readonly FieldFault[]> {
  const chains = chainsFrom(context.env);
  const chain = findChain(chains, body.chain);
  if (chain === null) {
    const detail = `is not known; known are ${chains.map((known) => known.name).join(', ')}`;
    return refused([{ pointer: '/chain', code: 'unknown-chain', detail }]);
  }
  const adapter = adapterFor(chain, []);
  const faults: FieldFault[] = [];
  const vaultId = parseVaultId(body.vaultId);
  if (vaultId === null) faults.push({ pointer: '/vaultId', code: 'invalid-id', detail: 'is not a vault id' });
  const to = readAddress(adapter.parseRecipient(body.to), '/to', faults);
  const token =
    body.tokenAddress == null ? null : readAddress(adapter.parseToken(body.tokenAddress), '/tokenAddress', faults);
  const amount = readAmount(adapter, body.amount, faults);
  if (faults.length > 0 || to === null || amount === null) return refused(faults);
  const { note, externalId } = body;
  return accepted({
    chain: chain.name,
    to,
    tokenAddress: token,
    amount,
    note: note ?? null,
    externalId: externalId ?? null,
  });
}

const ADDRESS_DETAILS = {
  malformed: 'is not an address of this chain',
  'bad-checksum': 'has a wrong checksum: at least one character is mistyped',
  'zero-address': 'is the zero address, from which nothing ever comes back',
} as const;

function readAddress(
  parsed: ReturnType<ChainAdapter['parseRecipient']>,
  pointer: string,
  faults: FieldFault[],
): string | null {
  if (parsed.ok) return parsed.value;
  faults.push({ pointer, code: parsed.refusal, detail: ADDRESS_DETAILS[parsed.refusal] });
  return null;
}

function readAmount(adapter: ChainAdapter, text: string, faults: FieldFault[]) {
  const amount = parseAmount(text, adapter.largestAmount);
  if (amount !== null && amount !== '0') return amount;
  const detail = `is a whole number of the smallest unit, from 1 to ${adapter.largestAmount}, in plain digits`;
  faults.push({ pointer: '/amount', code: 'invalid-amount', detail });
  return null;
}
