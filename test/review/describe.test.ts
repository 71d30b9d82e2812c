import { expect, test } from 'vitest';
import { describeChange, describePolicy } from '#review/describe-change.ts';
import { describeIntent } from '#review/describe-intent.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import { readMandate } from '#domain/policy/read-mandate.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import {
  changeOf,
  hashOf,
  policyOf,
  scriptOf,
  SUPPLIER,
  THIEF,
  transferOf,
  ALICE,
  BOB,
} from '../approval-page/request-scene.ts';

const policy = policyOf();
const { to: _to, tokenAddress: _token, amount: _amount, kind: _kind, ...frame } = transferOf(policy);
const { maxFee: _maxFee, lookalikeOf: _lookalike, ...messageFrame } = frame;
const factOf = (intent: Intent, label: string) =>
  describeIntent(intent, policy).facts.find((fact) => fact.label === label);

const mandateIn = ({ canonical }: ApprovalRequest) => readMandate(hexToBytes(canonical));

test('a transfer is shown with its amount, its chain, and the name from the address book', () => {
  expect(describeIntent(transferOf(policy), policy).title).toBe('Send 1.5 ETH to “Supplier”');
  expect(factOf(transferOf(policy), 'To')).toEqual({
    label: 'To',
    text: '“Supplier” in the address book',
    address: SUPPLIER,
  });
  expect(factOf(transferOf(policy), 'Chain')?.text).toBe('anvil (eip155:31337)');
  expect(factOf(transferOf(policy), 'Maximum fee')?.text).toBe('0.001 ETH');
  expect(factOf(transferOf(policy, { to: THIEF }), 'To')?.text).toBe('Not in the address book');
});

test('a payment with an expiry time is shown with that time', () => {
  const ending = { ...transferOf(policy), notAfterMs: Date.parse('2026-12-24T18:00:00Z') };
  expect(factOf(ending, 'Not after')?.text).toContain('2026');
  expect(factOf(transferOf(policy), 'Not after')).toBe(undefined);
});

test('a memo is shown with its invisible characters escaped', () => {
  expect(factOf(transferOf(policy, { memo: '104729\u202E' }), 'Memo')).toEqual({
    label: 'Memo',
    text: 'Written to the chain',
    raw: '104729⟨U+202E⟩',
  });
  expect(factOf(transferOf(policy), 'Memo')).toBeUndefined();
});

test('a token is shown with its contract, and with decimals only if this page lists the token', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const listed = transferOf(policy, { chain: 'eip155:1', tokenAddress: usdc, amount: amountOf(1_234_500_000n) });
  expect(describeIntent(listed, policy).title).toContain('Send 1\u202f234.5 USDC to');
  const unknown = { ...listed, tokenAddress: THIEF };
  const { title, warnings } = describeIntent(unknown, policy);
  expect(title).toContain('Send 1\u202f234\u202f500\u202f000 raw units of an unknown token to');
  expect(warnings).toContain('Neither this page nor the policy knows this token. Compare the contract address.');
  expect(factOf(unknown, 'Token')?.address).toBe(THIEF);
});

test('a token that the policy names is shown with its symbol and decimals, and not elsewhere', () => {
  const tokens = [{ chain: 'eip155:31337', tokenAddress: THIEF, symbol: 'ACME', decimals: 6 }];
  const naming = policyOf({ rules: { ...policy.rules, tokens } });
  const paid = transferOf(naming, { tokenAddress: THIEF, amount: amountOf(250_000_000_000n) });
  const { title, warnings, facts } = describeIntent(paid, naming);
  expect(title).toBe('Send 250\u202f000 ACME to “Supplier”');
  expect(warnings).toEqual([]);
  expect(facts).toContainEqual({ label: 'Token', text: 'ACME, named by the policy', address: THIEF });
  const elsewhere = describeIntent({ ...paid, chain: 'eip155:1' }, naming);
  expect(elsewhere.title).toContain('raw units of an unknown token');
  expect(describeIntent(paid, policy).title).toContain('raw units of an unknown token');
  const words = [THIEF.slice(2).toLowerCase(), (2_500_000).toString(16)].map((word) => word.padStart(64, '0'));
  const data = `0xa9059cbb${words.join('')}`;
  const call: Intent = { ...frame, kind: 'contract-interaction', to: THIEF, data, value: amountOf(0n) };
  const argument = describeIntent(call, naming).facts.find(({ label }) => label === 'Argument amount');
  expect(argument?.text).toBe('uint256, 2.5 ACME');
});

test('the decimals of a listed token are those of this build, whatever a policy says', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const tokens = [{ chain: 'eip155:1', tokenAddress: usdc, symbol: 'GOLD', decimals: 18 }];
  const naming = policyOf({ rules: { ...policy.rules, tokens } });
  const paid = transferOf(naming, { chain: 'eip155:1', tokenAddress: usdc, amount: amountOf(1_000_000n) });
  expect(describeIntent(paid, naming).title).toContain('Send 1 USDC to');
});

test('a limit on a token of the policy is shown in its units, and a change of decimals does not hide new units', () => {
  const token = { chain: 'eip155:31337', tokenAddress: THIEF, symbol: 'ACME' };
  const limited = (decimals: number, perDay: bigint, version = 1): ReturnType<typeof policyOf> =>
    policyOf({
      version,
      rules: {
        ...policy.rules,
        tokens: [{ ...token, decimals }],
        limits: [{ chain: token.chain, tokenAddress: THIEF, perTransaction: null, perDay: amountOf(perDay) }],
      },
    });
  const [before, after] = [limited(6, 50_000_000_000n), limited(18, 50_000n * 10n ** 18n, 2)];
  const shown = describePolicy(before, hashOf(before)).facts.find(({ label }) => label.startsWith('Limit'));
  expect(shown).toEqual({
    label: `Limit, anvil (eip155:31337), ACME at ${THIEF}`,
    text: 'no limit per transaction, 50\u202f000 ACME in 24 hours',
  });
  const { facts, warnings } = describeChange(mandateIn(changeOf(before, after)), before, after);
  expect(facts.map(({ label }) => label)).toContain(`Changed: Limit, anvil (eip155:31337), ACME at ${THIEF}`);
  expect(warnings.join()).toContain('A limit is higher');
});

test('an allowance that is never used up is called unlimited, and its digits are shown', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const allowance = (amount: bigint): Intent => {
    return {
      ...frame,
      chain: 'eip155:1',
      kind: 'erc20-approve',
      tokenAddress: usdc,
      spender: THIEF,
      maxFee: amountOf(1n),
      lookalikeOf: null,
      amount: amountOf(amount),
    };
  };
  const all = 2n ** 256n - 1n;
  expect(describeIntent(allowance(all), policy).title).toBe('Set an allowance of unlimited USDC');
  expect(factOf(allowance(all), 'Allowance')).toEqual({ label: 'Allowance', text: 'unlimited USDC', raw: String(all) });
  expect(factOf(allowance(2n ** 255n), 'Allowance')?.text).toBe('unlimited USDC');
  expect(factOf(allowance(2n ** 255n - 1n), 'Allowance')?.text).toContain('USDC');
  expect(factOf(allowance(1_000_000n), 'Allowance')).toEqual({ label: 'Allowance', text: '1 USDC' });
});

test('a token to its own contract, to another token or to a burn address gives a warning', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const usdt = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
  const paid = transferOf(policy, { chain: 'eip155:1', tokenAddress: usdc });
  const warningsFor = (to: string) => describeIntent({ ...paid, to }, policy).warnings.join();
  expect(warningsFor(usdc)).toContain('is the contract of the token itself');
  expect(warningsFor(usdt)).toContain('is the contract of the token USDT');
  expect(warningsFor('0x000000000000000000000000000000000000dEaD')).toContain('is a burn address');
  expect(warningsFor(SUPPLIER)).not.toMatch(/contract of the token|burn address/);
  const acknowledged = transferOf(policy, { to: usdc, tokenAddress: usdc, recipientIsToken: true });
  expect(factOf(acknowledged, 'Recipient is the token')?.text).toBe('Acknowledged by the creator');
  expect(factOf({ ...paid, to: usdc }, 'Recipient is the token')).toBeUndefined();
});

test('a chain that the page does not list is shown by its CAIP-2 id, with a warning', () => {
  const { title, warnings } = describeIntent(transferOf(policy, { chain: 'eip155:99' }), policy);
  expect(title).toContain('raw units of the native asset');
  expect(warnings).toEqual(['This page does not know this chain. Amounts are in raw units.']);
});

test('a contract call is decoded, and its bytes are shown', () => {
  const data = `0xa9059cbb000000000000000000000000${THIEF.slice(2).toLowerCase()}${'5'.padStart(64, '0')}`;
  const call: Intent = { ...frame, kind: 'contract-interaction', to: SUPPLIER, data, value: amountOf(0n) };
  expect(factOf(call, 'Call')?.text).toBe('transfer (ERC-20)');
  expect(factOf(call, 'Argument to')?.address).toBe(THIEF);
  expect(factOf(call, 'Argument amount')?.raw).toBe('5');
  expect(factOf(call, 'Data')?.raw).toBe(data);
  const unknown: Intent = { ...call, data: '0x12345678' };
  expect(describeIntent(unknown, policy).warnings.join()).toContain('Its effect is unknown');
});

test('a decoded call of a listed token shows its amounts with decimals beside the raw numbers', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const weth = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
  const thief = THIEF.slice(2).toLowerCase().padStart(64, '0');
  const numbered = (value: bigint) => value.toString(16).padStart(64, '0');
  const call = (to: string, data: string): Intent => {
    return { ...frame, chain: 'eip155:1', kind: 'contract-interaction', to, data, value: amountOf(0n) };
  };
  const transfer = `0xa9059cbb${thief}${numbered(1_000_000_000n)}`;
  const amount = { label: 'Argument amount', text: 'uint256, 1\u202f000 USDC', raw: '1000000000' };
  expect(factOf(call(usdc, transfer), 'Argument amount')).toEqual(amount);
  expect(describeIntent(call(usdc, transfer), policy).essentials).toContainEqual(amount);
  const increase = `0x39509351${thief}${numbered(1n)}`;
  expect(factOf(call(usdc, increase), 'Argument addedAmount')?.text).toBe('uint256, 0.000001 USDC');
  const withdrawal = `0x2e1a7d4d${numbered(15n * 10n ** 17n)}`;
  expect(factOf(call(weth, withdrawal), 'Argument amount')?.text).toBe('uint256, 1.5 WETH');
  const permit = `0xd505accf${thief}${thief}${[2_500_000n, 99n, 27n, 1n, 2n].map(numbered).join('')}`;
  expect(factOf(call(usdc, permit), 'Argument amount')?.text).toBe('uint256, 2.5 USDC');
  for (const [label, text] of [['deadline', 'uint256'] as const, ['v', 'uint8'] as const]) {
    expect(factOf(call(usdc, permit), `Argument ${label}`)?.text).toBe(text);
  }
});

test('a decoded call shows raw numbers for a token that this build does not list, and for a number of no token', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const thief = THIEF.slice(2).toLowerCase().padStart(64, '0');
  const five = '5'.padStart(64, '0');
  const called = { ...frame, kind: 'contract-interaction', value: amountOf(0n) } as const;
  const transfer = `0xa9059cbb${thief}${five}`;
  const unlisted: Intent = { ...called, chain: 'eip155:1', to: SUPPLIER, data: transfer };
  expect(factOf(unlisted, 'Argument amount')).toEqual({ label: 'Argument amount', text: 'uint256', raw: '5' });
  // The contract of the token on another chain is another contract.
  expect(factOf({ ...unlisted, chain: 'eip155:8453', to: usdc }, 'Argument amount')?.text).toBe('uint256');
  expect(factOf({ ...unlisted, chain: 'eip155:99', to: usdc }, 'Argument amount')?.text).toBe('uint256');
  const collectible = `0x42842e0e${thief}${thief}${five}`;
  expect(factOf({ ...unlisted, to: usdc, data: collectible }, 'Argument tokenId')?.text).toBe('uint256');
});

test('an unlimited allowance and a look-alike address give a warning', () => {
  const all: Intent = {
    ...frame,
    kind: 'erc20-approve',
    tokenAddress: SUPPLIER,
    spender: THIEF,
    amount: amountOf(2n ** 256n - 1n),
  };
  expect(describeIntent(all, policy).warnings.join()).toContain('may spend the entire balance of this token');
  const twin = `${SUPPLIER.slice(0, 5)}${THIEF.slice(5, -4)}${SUPPLIER.slice(-4)}`;
  expect(describeIntent(transferOf(policy, { to: twin }), policy).warnings.join()).toContain('resembles');
});

test('typed data is shown one value per row', () => {
  const message = JSON.stringify({
    types: {
      Permit: [
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
      EIP712Domain: [{ name: 'name', type: 'string' }],
    },
    primaryType: 'Permit',
    domain: { name: 'Coin' },
    message: { spender: THIEF, value: '7' },
  });
  const typed: Intent = { ...messageFrame, kind: 'message', format: 'eip712', message };
  expect(factOf(typed, 'message.spender')?.address).toBe(THIEF);
  expect(factOf(typed, 'message.value')?.raw).toBe('7');
  expect(factOf(typed, 'domain.name')?.raw).toBe('Coin');
});

test('an integer of typed data in hex is shown in decimal as well, and other hex is not', () => {
  const types = {
    Order: [
      { name: 'amount', type: 'uint256' },
      { name: 'change', type: 'int16' },
      { name: 'plain', type: 'uint8' },
      { name: 'parts', type: 'Part[][2]' },
      { name: 'owner', type: 'uint160' },
      { name: 'salt', type: 'bytes2' },
      { name: 'text', type: 'string' },
    ],
    Part: [{ name: 'share', type: 'uint8' }],
    EIP712Domain: [{ name: 'chainId', type: 'uint256' }],
  };
  const text = { salt: '0x0010', text: '0x10' };
  const parts = [[{ share: '0x0a' }], [{ share: '11' }]];
  const content = { amount: '0x3B9ACA00', change: '0x7f', plain: 16, parts, owner: THIEF.toLowerCase(), ...text };
  const message = JSON.stringify({ types, primaryType: 'Order', domain: { chainId: '0x1' }, message: content });
  const typed: Intent = { ...messageFrame, kind: 'message', format: 'eip712', message };
  const shown = (label: string) => {
    const fact = factOf(typed, label);
    return [fact?.text, fact?.raw];
  };
  expect(shown('message.amount')).toEqual(['In decimal: 1000000000', '0x3B9ACA00']);
  expect(shown('message.change')).toEqual(['In decimal: 127', '0x7f']);
  expect(shown('domain.chainId')).toEqual(['In decimal: 1', '0x1']);
  expect(shown('message.parts[0][0].share')).toEqual(['In decimal: 10', '0x0a']);
  expect(shown('message.parts[1][0].share')).toEqual(['', '11']);
  expect(shown('message.plain')).toEqual(['', '16']);
  expect(shown('message.salt')).toEqual(['', '0x0010']);
  expect(shown('message.text')).toEqual(['', '0x10']);
  // A number that has the form of an address is shown as the number that it is.
  expect(shown('message.owner')).toEqual([`In decimal: ${BigInt(THIEF)}`, THIEF.toLowerCase()]);
});

test('typed data without a value is shown as empty', () => {
  const types = { Order: [{ name: 'terms', type: 'Terms' }], Terms: [], EIP712Domain: [] };
  const message = JSON.stringify({ types, primaryType: 'Order', domain: {}, message: { terms: {} } });
  const typed: Intent = { ...messageFrame, kind: 'message', format: 'eip712', message };
  expect(factOf(typed, 'domain')?.text).toBe('Empty');
  expect(factOf(typed, 'message.terms')?.text).toBe('Empty');
  expect(factOf(typed, 'message')).toBeUndefined();
});

test('characters that hide or reverse text are escaped', () => {
  expect(visibleText('pay\u202Eecila\u200B\n')).toBe('pay⟨U+202E⟩ecila⟨U+200B⟩⟨U+A⟩');
  expect(factOf(transferOf(policy, { note: 'a\u202Eb' }), 'Note')?.text).toBe('a⟨U+202E⟩b');
});

test('a policy change is shown field by field, with the protections that it weakens', () => {
  const added = scriptOf(ALICE, 'laptop of mallory');
  const proposed = policyOf({
    version: 2,
    previousHash: hashOf(policy),
    threshold: 1,
    approvalMode: 'token',
    devices: [...policy.devices, added],
    rules: { ...policy.rules, addressBook: [], unreadableThreshold: null, requiredDevice: 'any' },
  });
  const mandate = mandateIn(changeOf(policy, proposed));
  const { title, facts, warnings } = describeChange(mandate, policy, proposed);
  expect(title).toBe('Change the policy to version 2');
  expect(facts.map(({ label }) => label)).toEqual([
    'Changed: Approval threshold',
    'Changed: Approval method',
    'Added: Device',
    'Changed: Blind signing',
    'Added: Required device',
    'Removed: Address book, anvil (eip155:31337)',
    'Note',
    'Expires',
    'Created',
    'Vault',
    'Policy change',
    'New policy',
  ]);
  expect(facts.find(({ label }) => label === 'Added: Device')?.text).toContain(`signer ${ALICE}`);
  expect(warnings).toEqual([
    'A transaction requires fewer approvals than before.',
    'A policy change requires fewer approvals than before.',
    'Device signatures are no longer required. The server alone determines which signers approved.',
    expect.stringContaining('New devices: 1'),
  ]);
});

test('every field in which two policies differ is in the list of changes', () => {
  const variants = [
    policyOf({ version: 2, signers: [ALICE], devices: [scriptOf(ALICE, 'laptop of alice')], threshold: 1 }),
    policyOf({ version: 2, rules: { ...policy.rules, recipients: 'address-book' } }),
    policyOf({ version: 2, rules: { ...policy.rules, limitsIncludeFees: false } }),
    policyOf({ version: 2, rules: { ...policy.rules, maxFees: [{ chain: 'eip155:1', amount: amountOf(1n) }] } }),
    policyOf({ version: 2, rules: { ...policy.rules, signOnce: 'quorum' } }),
    policyOf({ version: 2, rules: { ...policy.rules, unboundMessages: 'refuse' } }),
    policyOf({ version: 2, cosigners: [...(policy.cosigners ?? [])].slice(0, 2) }),
    policyOf({ version: 2, devices: [scriptOf(ALICE, 'laptop of alice'), scriptOf(BOB, 'phone of bob')] }),
  ];
  for (const proposed of variants) {
    const [first] = describeChange(mandateIn(changeOf(policy, proposed)), policy, proposed).facts;
    expect(first?.label).toMatch(/^(Added|Removed|Changed): /);
  }
});

test('a message for another chain, and dropped keys, are shown as facts and as warnings', () => {
  const types = { EIP712Domain: [{ name: 'chainId', type: 'uint256' }], Order: [] };
  const message = JSON.stringify({ types, primaryType: 'Order', domain: { chainId: 8453 }, message: {} });
  const extras = { foreignChainId: '8453', droppedKeys: 3 };
  const typed: Intent = { ...messageFrame, kind: 'message', format: 'eip712', message, ...extras };
  expect(factOf(typed, 'Signed for chain')?.text).toContain('eip155:8453');
  expect(factOf(typed, 'Dropped keys')?.text).toContain('3');
  const { warnings } = describeIntent(typed, policy);
  expect(warnings).toContainEqual(expect.stringContaining('chain id 8453'));
  expect(warnings).toContainEqual(expect.stringContaining('3 keys'));
});

test('a null end of typed data is shown', () => {
  const types = { EIP712Domain: [], Node: [{ name: 'next', type: 'Node' }] };
  const message = JSON.stringify({ types, primaryType: 'Node', domain: {}, message: { next: { next: null } } });
  const typed: Intent = { ...messageFrame, kind: 'message', format: 'eip712', message };
  expect(factOf(typed, 'message.next.next')?.raw).toBe('null');
});

test('bytes are shown in hex, with the text that they are, and bytes that are no text without one', () => {
  const bytes = (message: string): Intent => ({ ...messageFrame, kind: 'message', format: 'eip191-hex', message });
  const text = bytes(`0x${Buffer.from('Access\u202e').toString('hex')}`);
  expect(factOf(text, 'Bytes')).toMatchObject({ text: '9 bytes', raw: '0x416363657373e280ae' });
  expect(factOf(text, 'As text')?.raw).toContain('Access');
  expect(factOf(text, 'As text')?.raw).not.toContain('\u202e');
  const hash = bytes(`0x${'ff'.repeat(32)}`);
  expect(factOf(hash, 'As text')).toBeUndefined();
  expect(describeIntent(hash, policy).warnings).toContainEqual(expect.stringContaining('32 bytes'));
  expect(() => describeIntent(bytes('0xFF'), policy)).toThrow('bytes that can be shown');
});
