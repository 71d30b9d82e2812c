import { FieldReader, InvalidDocument } from '#domain/canonical/field-reader.ts';
import { parseTransactionId, parseVaultIdText, vaultOfTransaction } from '#domain/id.ts';
import type { Action, Intent, MessageExtras, OnChainIntent, TransferExtras } from '#domain/transaction/intent.ts';
import { INTENT_DOMAIN, intentBytes, MESSAGE_FORMATS } from '#domain/transaction/intent.ts';

/**
 * Returns the intent that canonical bytes encode. Throws `InvalidDocument` unless every field is
 * known, every field has a valid form, and the intent encodes to exactly these bytes again. The
 * content of typed data and calldata is judged by the rules of its chain.
 */
export function readIntent(bytes: Uint8Array): Intent {
  const fields = new FieldReader(bytes, INTENT_DOMAIN);
  const kind = fields.text('kind');
  const vaultId = fields.parsed('vaultId', parseVaultIdText);
  const transactionId = fields.parsed('transactionId', parseTransactionId);
  if (vaultOfTransaction(transactionId) !== vaultId) {
    throw new InvalidDocument('The transaction belongs to another vault.');
  }
  const chain = fields.parsed('chain', chainOf);
  const from = fields.parsed('from', addressOf);
  const action = readAction(fields, kind);
  const bound = action.kind === 'message' ? null : readBounds(fields);
  const extras = action.kind === 'transfer' ? readExtras(fields) : {};
  const frame = {
    vaultId,
    transactionId,
    chain,
    from,
    policyVersion: fields.count('policyVersion'),
    policyHash: fields.parsed('policyHash', hashOf),
    note: fields.optionalPlainText('note'),
    createdAtMs: fields.count('createdAtMs'),
    expiresAtMs: fields.count('expiresAtMs'),
  };
  const hasEnd = action.kind !== 'message' && fields.isAt('notAfterMs');
  const end = hasEnd ? { notAfterMs: fields.count('notAfterMs') } : {};
  const intent = intentOf(frame, action, { bound: bound === null ? null : { ...bound, ...end }, extras });
  fields.end(intentBytes(intent));
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
  if (bound === null) throw new Error('an intent other than a message has no largest fee');
  return action.kind === 'transfer' ? { ...frame, ...action, ...bound, ...extras } : { ...frame, ...action, ...bound };
}

/** Reads the optional fields of a transfer, in the order of the canonical bytes. */
function readExtras(fields: FieldReader): TransferExtras {
  const paysFor = fields.isAt('paysFor') ? { paysFor: fields.parsed('paysFor', txHashOf) } : {};
  const memo = fields.isAt('memo') ? { memo: fields.plainText('memo') } : {};
  const keyless = isAcknowledged(fields, 'recipientMayHaveNoKey') ? ({ recipientMayHaveNoKey: true } as const) : {};
  const token = isAcknowledged(fields, 'recipientIsToken') ? ({ recipientIsToken: true } as const) : {};
  const fee = fields.isAt('maxTokenFee') ? { maxTokenFee: fields.amount('maxTokenFee') } : {};
  return { ...paysFor, ...memo, ...keyless, ...token, ...fee };
}

/** Reads an acknowledgement, which is absent or `true`. */
function isAcknowledged(fields: FieldReader, name: string): boolean {
  if (!fields.isAt(name)) return false;
  fields.oneOf(name, ['true']);
  return true;
}

/** Reads the optional fields of a message, in the order of the canonical bytes. */
function readMessageExtras(fields: FieldReader): MessageExtras {
  const foreign = fields.isAt('foreignChainId') ? { foreignChainId: fields.parsed('foreignChainId', chainIdText) } : {};
  return fields.isAt('droppedKeys') ? { ...foreign, droppedKeys: fields.count('droppedKeys') } : foreign;
}

function readAction(fields: FieldReader, kind: string): Action {
  switch (kind) {
    case 'transfer':
      return {
        kind,
        to: fields.parsed('to', addressOf),
        tokenAddress: fields.optionalParsed('tokenAddress', addressOf),
        amount: fields.amount('amount'),
      };
    case 'contract-interaction':
      return {
        kind,
        to: fields.parsed('to', addressOf),
        data: fields.parsed('data', (text) => (/^0x(?:[0-9a-f]{2})*$/.test(text) ? text : null)),
        value: fields.amount('value'),
      };
    case 'erc20-approve':
      return {
        kind,
        tokenAddress: fields.parsed('tokenAddress', addressOf),
        spender: fields.parsed('spender', addressOf),
        amount: fields.amount('amount'),
      };
    case 'message':
      return {
        kind,
        format: fields.oneOf('format', MESSAGE_FORMATS),
        message: fields.text('message'),
        ...readMessageExtras(fields),
      };
    default:
      throw new InvalidDocument('This kind of transaction is not supported.');
  }
}

function readBounds(fields: FieldReader) {
  return { maxFee: fields.amount('maxFee'), lookalikeOf: fields.optionalParsed('lookalikeOf', addressOf) };
}

function hashOf(text: string): string | null {
  return /^[0-9a-f]{64}$/.test(text) ? text : null;
}

/** Returns the text when it is a CAIP-2 chain id, otherwise null. */
function chainOf(text: string): string | null {
  return /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(text) ? text : null;
}

/**
 * Returns the text when it has only the letters and digits of addresses. No such letter is
 * invisible or turns the text around on a screen.
 */
function addressOf(text: string): string | null {
  return /^[0-9A-Za-z]{20,100}$/.test(text) ? text : null;
}

/** Returns the text when it is the digits of a `uint256` without a leading zero, otherwise null. */
function chainIdText(text: string): string | null {
  return /^(?:0|[1-9][0-9]{0,77})$/.test(text) ? text : null;
}

function txHashOf(text: string): string | null {
  return /^[0-9A-Za-z]{32,100}$/.test(text) ? text : null;
}
