import {
  addressOf,
  bytesOfHex,
  CanonicalCursor,
  chainOf,
  hashOf,
  assertSameBytes,
  InvalidRequest,
} from '#approval-page/read/canonical-cursor.ts';
import { readTypedData, typedDataText } from '#chains/evm/rules/typed-data.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import { parseTransactionId, parseVaultIdText, vaultOfTransaction } from '#domain/id.ts';
import type { Action, Intent, OnChainIntent, TransferExtras } from '#domain/transaction/intent.ts';
import { intentBytes, MESSAGE_FORMATS } from '#domain/transaction/intent.ts';

export const INTENT_DOMAIN = 'conclave/intent/v1';

/**
 * Returns the intent that canonical bytes encode. Throws `InvalidRequest` unless every field is
 * known, every field has a valid form, and the intent encodes to exactly these bytes again.
 */
export function readIntent(canonical: string): Intent {
  const bytes = bytesOfHex(canonical);
  const cursor = new CanonicalCursor(bytes, INTENT_DOMAIN);
  const kind = cursor.text('kind');
  const vaultId = cursor.parsed('vaultId', parseVaultIdText);
  const transactionId = cursor.parsed('transactionId', parseTransactionId);
  if (vaultOfTransaction(transactionId) !== vaultId) {
    throw new InvalidRequest('The transaction belongs to another vault.');
  }
  const chain = cursor.parsed('chain', chainOf);
  const from = cursor.parsed('from', addressOf);
  const action = readAction(cursor, kind);
  const bound = action.kind === 'message' ? null : readBounds(cursor);
  const extras = action.kind === 'transfer' ? readExtras(cursor) : {};
  const frame = {
    vaultId,
    transactionId,
    chain,
    from,
    policyVersion: cursor.count('policyVersion'),
    policyHash: cursor.parsed('policyHash', hashOf),
    note: cursor.optional('note'),
    createdAtMs: cursor.count('createdAtMs'),
    expiresAtMs: cursor.count('expiresAtMs'),
  };
  const hasEnd = action.kind !== 'message' && cursor.isAt('notAfterMs');
  const end = hasEnd ? { notAfterMs: cursor.count('notAfterMs') } : {};
  cursor.end();
  const intent = intentOf(frame, action, { bound: bound === null ? null : { ...bound, ...end }, extras });
  assertSameBytes(bytes, intentBytes(intent));
  return intent;
}

type Bounds = ReturnType<typeof readBounds> & Pick<OnChainIntent, 'notAfterMs'>;
type Frame = Pick<
  Intent,
  | 'vaultId'
  | 'transactionId'
  | 'chain'
  | 'from'
  | 'policyVersion'
  | 'policyHash'
  | 'note'
  | 'createdAtMs'
  | 'expiresAtMs'
>;

function intentOf(
  frame: Frame,
  action: Action,
  { bound, extras }: { readonly bound: Bounds | null; readonly extras: TransferExtras },
): Intent {
  if (action.kind === 'message') return { ...frame, ...action };
  if (bound === null) throw new Error('every kind but a message has a largest fee');
  return action.kind === 'transfer' ? { ...frame, ...action, ...bound, ...extras } : { ...frame, ...action, ...bound };
}

/** Reads the optional fields of a transfer, in the order of the canonical bytes. */
function readExtras(cursor: CanonicalCursor): TransferExtras {
  const paysFor = cursor.isAt('paysFor') ? { paysFor: cursor.parsed('paysFor', txHashOf) } : {};
  const memo = cursor.isAt('memo') ? { memo: cursor.text('memo') } : {};
  if (!cursor.isAt('recipientMayHaveNoKey')) return { ...paysFor, ...memo };
  cursor.oneOf('recipientMayHaveNoKey', ['true']);
  return { ...paysFor, ...memo, recipientMayHaveNoKey: true };
}

function readAction(cursor: CanonicalCursor, kind: string): Action {
  switch (kind) {
    case 'transfer':
      return {
        kind,
        to: cursor.parsed('to', addressOf),
        tokenAddress: cursor.optionalParsed('tokenAddress', addressOf),
        amount: cursor.parsed('amount', (text) => parseAmount(text)),
      };
    case 'contract-interaction':
      return {
        kind,
        to: cursor.parsed('to', addressOf),
        data: cursor.parsed('data', (text) => (/^0x(?:[0-9a-f]{2})*$/.test(text) ? text : null)),
        value: cursor.parsed('value', (text) => parseAmount(text)),
      };
    case 'erc20-approve':
      return {
        kind,
        tokenAddress: cursor.parsed('tokenAddress', addressOf),
        spender: cursor.parsed('spender', addressOf),
        amount: cursor.parsed('amount', (text) => parseAmount(text)),
      };
    case 'message':
      return readMessage(cursor);
    default:
      throw new InvalidRequest('This page does not support this kind of transaction.');
  }
}

function readMessage(cursor: CanonicalCursor): Action {
  const format = cursor.oneOf('format', MESSAGE_FORMATS);
  const message = cursor.text('message');
  if (format === 'eip712' && !isTypedData(message)) {
    throw new InvalidRequest('The message is not typed data that this page can read.');
  }
  return { kind: 'message', format, message };
}

function isTypedData(message: string): boolean {
  try {
    const read = readTypedData(JSON.parse(message));
    return read.ok && typedDataText(read.value) === message;
  } catch {
    return false;
  }
}

function readBounds(cursor: CanonicalCursor) {
  return {
    maxFee: cursor.parsed('maxFee', (text) => parseAmount(text)),
    lookalikeOf: cursor.optionalParsed('lookalikeOf', addressOf),
  };
}

function txHashOf(text: string): string | null {
  return /^[0-9A-Za-z]{32,100}$/.test(text) ? text : null;
}
