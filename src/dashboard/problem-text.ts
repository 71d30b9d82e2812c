/** Refused fields as the forms name them: the API names fields of a body, in JSON pointers. */

/** A field that the service refused. */
export interface FieldFault {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** The labels of the forms for a transfer, a policy and a token. */
const LABELS: Readonly<Record<string, string>> = {
  to: 'To',
  amount: 'Amount',
  chain: 'Asset',
  tokenAddress: 'Asset',
  note: 'Note',
  memo: 'Memo on chain',
  maxFee: 'Fee',
  name: 'Name',
  expiresAt: 'Expiry',
  reason: 'Reason',
  signers: 'Signers',
  threshold: 'Approval threshold',
  approvalMode: 'Approval method',
  unreadableThreshold: 'Approvals for undecodable calls',
  recipients: 'Allowed recipients',
  limitsIncludeFees: 'Fees count toward limits',
  signOnce: 'Co-signer receipts',
  requiredDevice: 'Required device',
  unboundMessages: 'Messages that are valid on every chain',
  addDevices: 'Devices',
  removeDevices: 'Devices',
  addressBook: 'Addresses',
  tokens: 'Tokens',
  limits: 'Limits',
  higherThresholds: 'Higher thresholds',
  maxFees: 'Maximum fees',
};

/** The lists of the policy form: the name of a row, and the labels in it. */
const ROWS: Readonly<Record<string, readonly [name: string, labels: Readonly<Record<string, string>>]>> = {
  addressBook: ['Address', { name: 'Name', chain: 'Chain', address: 'Address' }],
  tokens: ['Token', { chain: 'Chain', tokenAddress: 'Contract', symbol: 'Symbol', decimals: 'Decimals' }],
  limits: [
    'Limit',
    { chain: 'Asset', tokenAddress: 'Asset', perTransaction: 'Per transaction', perDay: 'Per 24 hours' },
  ],
  higherThresholds: [
    'Higher threshold',
    { chain: 'Asset', tokenAddress: 'Asset', above: 'Amount above', threshold: 'Approvals' },
  ],
  maxFees: ['Maximum fee', { chain: 'Chain', amount: 'Maximum fee' }],
};

/** Texts for codes whose detail is written for programs. Another code has its detail. */
const TEXTS: Readonly<Record<string, string>> = {
  malformed: 'Enter an address of this chain.',
  'bad-checksum': 'At least one character of the address is mistyped.',
  'zero-address': 'Enter another address. What is sent to the zero address is lost.',
  'off-curve':
    'The address is program-derived and has no key. Enter the address of the wallet, or tick “The recipient may be a ' +
    'program address without a key” if the program is the recipient.',
  'invalid-amount': 'Enter an amount that this chain can carry.',
  'in-the-past': 'Enter a date in the future.',
  'unknown-chain': 'Choose another asset or chain. This service does not know the chain.',
  invalid_type: 'Enter a value.',
  too_small: 'Enter a longer text or a larger number.',
  too_big: 'Enter a shorter text or a smaller number.',
};

/**
 * Returns the text about a refused field. One that no form has keeps its pointer and its detail.
 */
export function faultText({ pointer, code, detail }: FieldFault): string {
  const label = labelOf(pointer);
  if (label === null) return pointer === '' ? detail : `${pointer}: ${detail}`;
  return `${label}: ${adviceOn({ code, detail })}`;
}

/** Returns the text about a refused field without the name of the field, to be shown beside it. */
export function adviceOn({ code, detail }: Omit<FieldFault, 'pointer'>): string {
  return own(TEXTS, code) ?? detail;
}

/** Returns the faults in the body of a refusal. Entries of another form are left out. */
export function faultsIn(errors: unknown): readonly FieldFault[] {
  return Array.isArray(errors) ? errors.filter(isFault) : [];
}

function isFault(entry: unknown): entry is FieldFault {
  if (typeof entry !== 'object' || entry === null) return false;
  return ['pointer', 'code', 'detail'].every((name) => typeof Reflect.get(entry, name) === 'string');
}

function labelOf(pointer: string): string | null {
  const [, list = '', index = '', field] = pointer.split('/');
  const row = own(ROWS, list);
  if (row === null || !/^[0-9]{1,4}$/.test(index)) return own(LABELS, list);
  const [name, labels] = row;
  const label = field === undefined ? null : own(labels, field);
  const number = Number.parseInt(index, 10) + 1;
  return label === null ? `${name} ${number}` : `${name} ${number}, ${label}`;
}

/** Returns an own property; the names come from the service. */
function own<T>(entries: Readonly<Record<string, T>>, name: string): T | null {
  return Object.hasOwn(entries, name) ? (entries[name] ?? null) : null;
}
