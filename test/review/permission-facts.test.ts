import { encodeFunctionData, getAddress, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { PERMIT2 } from '#chains/evm/rules/permit.ts';
import { describeIntent } from '#review/describe-intent.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { policyOf, SUPPLIER, THIEF, transferOf } from '../approval-page/request-scene.ts';

const policy = policyOf();
const { to: _to, tokenAddress: _token, amount: _amount, kind: _kind, ...frame } = transferOf(policy);
const { maxFee: _maxFee, lookalikeOf: _lookalike, ...messageFrame } = frame;
const WALLET = frame.from;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const UNKNOWN = '0x0000000000000000000000000000000000000091';
const MOST = (bits: number) => String(2n ** BigInt(bits) - 1n);
const NOON = String(Date.parse('2027-01-02T12:00:00Z') / 1000);
const DATE = '2027-01-02 12:00:00Z';

const THIEF_HEX = getAddress(THIEF);

type Values = Readonly<Record<string, unknown>>;

const membersOf = (text: string) =>
  text.split(',').map((member) => {
    const [type = '', name = ''] = member.split(' ');
    return { name, type };
  });
const DOMAIN = membersOf('string name,uint256 chainId,address verifyingContract');
const FORMS = {
  Permit: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline',
  Dai: 'address holder,address spender,uint256 nonce,uint256 expiry,bool allowed',
  PermitSingle: 'PermitDetails details,address spender,uint256 sigDeadline',
  PermitBatch: 'PermitDetails[] details,address spender,uint256 sigDeadline',
  PermitTransferFrom: 'TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline',
  PermitBatchTransferFrom: 'TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline',
} as const;
const INNER = {
  PermitDetails: 'address token,uint160 amount,uint48 expiration,uint48 nonce',
  TokenPermissions: 'address token,uint256 amount',
};

interface Typed {
  readonly message: Values;
  readonly domain?: Values;
  readonly members?: string;
  readonly inner?: Partial<typeof INNER>;
}

/** Returns the intent to sign typed data whose signature is valid on Ethereum, unless changed. */
function typed(form: keyof typeof FORMS, { message, domain = {}, members, inner = {} }: Typed): Intent {
  const primaryType = form === 'Dai' ? 'Permit' : form;
  const contract = form === 'Permit' || form === 'Dai' ? USDC : PERMIT2;
  const structs = form.startsWith('Permit') && form !== 'Permit' ? { ...INNER, ...inner } : {};
  const data = {
    types: {
      [primaryType]: membersOf(members ?? FORMS[form]),
      ...Object.fromEntries(Object.entries<string>(structs).map(([name, text]) => [name, membersOf(text)])),
      EIP712Domain: DOMAIN,
    },
    primaryType,
    domain: { name: 'Any', chainId: 1, verifyingContract: contract, ...domain },
    message,
  };
  return { ...messageFrame, chain: 'eip155:1', kind: 'message', format: 'eip712', message: JSON.stringify(data) };
}

const ABI = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 addedAmount)',
  'function setApprovalForAll(address operator, bool approved)',
  'function transfer(address to, uint256 amount)',
]);

const call = (data: string, to = USDC): Intent => {
  return { ...frame, chain: 'eip155:1', kind: 'contract-interaction', to, data, value: amountOf(0n) };
};
const moved = (functionName: 'approve' | 'increaseAllowance' | 'transfer', units: bigint) =>
  encodeFunctionData({ abi: ABI, functionName, args: [THIEF_HEX, units] });
const forAll = (approved: boolean) =>
  encodeFunctionData({ abi: ABI, functionName: 'setApprovalForAll', args: [THIEF_HEX, approved] });

const said = (intent: Intent) =>
  describeIntent(intent, policy)
    .essentials.filter(({ label }) => label === 'Permission')
    .map(({ text }) => text);

const STRANGER = 'An address that is not in the address book';
const FROM = 'from the vault wallet on ethereum (eip155:1)';
const UNREAD = 'A permit that is not exactly of a known form. Who may take what is not read.';

const permit = (changes: Values = {}) => ({
  message: { owner: WALLET, spender: THIEF, value: '2500000', nonce: '0', deadline: NOON, ...changes },
});
const dai = (changes: Values = {}) => ({
  message: { holder: WALLET, spender: THIEF, nonce: '0', expiry: NOON, allowed: true, ...changes },
});
const details = (changes: Values = {}) => ({
  token: USDC,
  amount: '2500000',
  expiration: NOON,
  nonce: '0',
  ...changes,
});
const single = (changes: Values = {}) => ({
  message: { details: details(changes), spender: THIEF, sigDeadline: NOON },
});
const permitted = (changes: Values = {}) => ({
  message: { permitted: { token: USDC, amount: '2500000', ...changes }, spender: THIEF, nonce: '0', deadline: NOON },
});

test('an ERC-2612 permit says who may take how much until when', () => {
  const end = 'until the vault revokes it. The signature can be used';
  expect(said(typed('Permit', permit()))).toEqual([
    `${STRANGER} may take at most 2.5 USDC ${FROM}, ${end} until ${DATE}.`,
  ]);
  expect(said(typed('Permit', permit({ value: MOST(256), deadline: MOST(256) })))).toEqual([
    `${STRANGER} may take unlimited USDC ${FROM}, ${end} without end.`,
  ]);
  expect(said(typed('Permit', permit({ deadline: '0' })))[0]).toContain('can be used until 1970-01-01 00:00:00Z.');
  expect(said(typed('Permit', permit({ deadline: MOST(255) })))[0]).toContain('after the year 275760');
  expect(said(typed('Permit', permit({ value: `0x${'f'.repeat(64)}` })))[0]).toContain('unlimited USDC');
  expect(said(typed('Permit', permit({ value: MOST(160) })))[0]).not.toContain('unlimited');
  expect(said(typed('Permit', permit({ owner: SUPPLIER })))[0]).toContain(
    `from ${SUPPLIER}, which is not the vault wallet`,
  );
});

test("DAI's permit has no amount, and 0 is no end", () => {
  expect(said(typed('Dai', dai()))).toEqual([
    `${STRANGER} may take unlimited USDC ${FROM}, until the vault revokes it. The signature can be used until ${DATE}.`,
  ]);
  expect(said(typed('Dai', dai({ expiry: '0' })))[0]).toContain('can be used without end.');
  expect(said(typed('Dai', dai({ allowed: false })))[0]).toContain(`${STRANGER} may no longer take USDC`);
});

test('Permit2 allowances have the largest amount of their own type and their own end', () => {
  const tail = `The signature can be used until ${DATE}.`;
  expect(said(typed('PermitSingle', single()))).toEqual([
    `${STRANGER} may take at most 2.5 USDC ${FROM}, until ${DATE}. ${tail}`,
  ]);
  expect(said(typed('PermitSingle', single({ amount: MOST(160), expiration: MOST(48) })))).toEqual([
    `${STRANGER} may take unlimited USDC ${FROM}, without end. ${tail}`,
  ]);
  expect(said(typed('PermitSingle', single({ amount: MOST(159) })))[0]).not.toContain('unlimited');
  expect(said(typed('PermitSingle', single({ expiration: '0' })))[0]).toContain('in the block of its use alone');
  const many = [details(), details({ token: UNKNOWN, amount: MOST(160) })];
  const batch = { message: { details: many, spender: THIEF, sigDeadline: NOON } };
  expect(said(typed('PermitBatch', batch))).toHaveLength(2);
  expect(said(typed('PermitBatch', batch))[1]).toContain('unlimited units of an unknown token');
  const none = { message: { details: [], spender: THIEF, sigDeadline: NOON } };
  expect(said(typed('PermitBatch', none))).toEqual(['None. The permit names no token.']);
});

test('a Permit2 payment is for one use', () => {
  const tail = `, once. The signature can be used until ${DATE}.`;
  expect(said(typed('PermitTransferFrom', permitted()))).toEqual([
    `${STRANGER} may take at most 2.5 USDC ${FROM}${tail}`,
  ]);
  expect(said(typed('PermitTransferFrom', permitted({ amount: MOST(256) })))).toEqual([
    `${STRANGER} may take unlimited USDC ${FROM}${tail}`,
  ]);
  const both = [
    { token: USDC, amount: '1' },
    { token: UNKNOWN, amount: '7' },
  ];
  const batch = { message: { permitted: both, spender: THIEF, nonce: '0', deadline: NOON } };
  expect(said(typed('PermitBatchTransferFrom', batch))[1]).toContain('at most 7 raw units of an unknown token');
});

test.each<readonly [string, Intent]>([
  [
    'a further member',
    typed('Permit', { message: { ...permit().message, to: THIEF }, members: `${FORMS.Permit},address to` }),
  ],
  [
    'another type',
    typed('Permit', { ...permit({ value: '7' }), members: FORMS.Permit.replace('uint256 value', 'uint128 value') }),
  ],
  ['another order', typed('Permit', { ...permit(), members: FORMS.Permit.split(',').toReversed().join() })],
  [
    'another inner type',
    typed('PermitSingle', { ...single(), inner: { PermitDetails: INNER.PermitDetails.replace('uint160', 'uint256') } }),
  ],
])('a permit with %s is not put into words', (_name, intent) => {
  expect(said(intent)).toEqual([UNREAD]);
});

test('a token and a name count on the chain that is signed, and a stranger in the place of Permit2 is shown', () => {
  const base = typed('Permit', { ...permit(), domain: { chainId: 8453 } });
  expect(said(base)[0]).toContain('2\u202f500\u202f000 raw units of an unknown token from the vault wallet on base');
  const stranger = describeIntent(
    typed('PermitSingle', { ...single(), domain: { verifyingContract: UNKNOWN } }),
    policy,
  );
  expect(stranger.essentials.find(({ label }) => label === 'Contract of the permit')?.address).toBe(UNKNOWN);
  const known = describeIntent(typed('PermitSingle', single()), policy).essentials;
  expect(known.some(({ label }) => label === 'Contract of the permit')).toBe(false);
});

test('a call that gives a permission says who may take what', () => {
  const all = 2n ** 256n - 1n;
  const end = 'until the vault revokes it';
  expect(said(call(moved('approve', all)))).toEqual([
    `${STRANGER} may take unlimited USDC from the vault wallet, ${end}.`,
  ]);
  expect(said(call(moved('approve', 0n)))).toEqual([`${STRANGER} may no longer take USDC.`]);
  expect(said(call(moved('approve', 5n), UNKNOWN))[0]).toContain('or token 5 if the contract is an NFT collection');
  expect(said(call(moved('approve', 0n), UNKNOWN))[0]).toContain('but may take token 0 if the contract is an NFT');
  expect(said(call(moved('increaseAllowance', 2_500_000n)))).toEqual([
    `${STRANGER} may take 2.5 USDC more than before from the vault wallet, ${end}.`,
  ]);
  expect(said(call(forAll(true), UNKNOWN))).toEqual([
    `${STRANGER} may take every token of this collection, unlimited, ${end}.`,
  ]);
  expect(said(call(forAll(false), UNKNOWN))[0]).toContain('may no longer take');
  expect(said(call(moved('transfer', 1n)))).toEqual([]);
});
