import { expect, test } from 'vitest';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import { countedFinalDepth } from '#chains/evm/client/depth.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';

const known = chainsFrom({});

const LOCAL = {
  name: 'local',
  caip2: 'eip155:1337',
  family: 'evm',
  nativeSymbol: 'ETH',
  nativeDecimals: 18,
  confirmations: 2,
  pollIntervalMs: 100,
  maxFee: '1000000000000000',
  explorer: null,
};

test('a setting of chains is parsed once, and another setting is parsed separately', () => {
  const CHAINS = JSON.stringify([LOCAL]);
  const chains = chainsFrom({ CHAINS });
  expect(chainsFrom({ CHAINS })).toBe(chains);
  expect(findChain(chainsFrom({}), 'local')).toBeNull();
  expect(findChain(chainsFrom({ CHAINS }), 'local')).toEqual(findChain(chains, 'local'));
});

test('the chains of the reference are configured by default', () => {
  expect(known.map((chain) => `${chain.name} ${chain.caip2} ${chain.nativeSymbol}`)).toEqual([
    'ethereum eip155:1 ETH',
    'base eip155:8453 ETH',
    'arbitrum eip155:42161 ETH',
    'optimism eip155:10 ETH',
    'polygon eip155:137 POL',
    'bsc eip155:56 BNB',
    'avalanche eip155:43114 AVAX',
    'linea eip155:59144 ETH',
    'scroll eip155:534352 ETH',
    'gnosis eip155:100 xDAI',
    'unichain eip155:130 ETH',
    'plasma eip155:9745 XPL',
    'hyperevm eip155:999 HYPE',
    'ethereum-sepolia eip155:11155111 ETH',
    'base-sepolia eip155:84532 ETH',
    'anvil eip155:31337 ETH',
    'solana solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp SOL',
    'solana-devnet solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 SOL',
    'solana-local solana:Conc1aveLoca11111111111111111111 SOL',
    'bitcoin bip122:000000000019d6689c085ae165831e93 BTC',
    'bitcoin-testnet4 bip122:00000000da84f2bafbbc53dee25a72ae BTC',
    'bitcoin-signet bip122:00000008819873e925422c1ff0f99f7c BTC',
    'bitcoin-regtest bip122:0f9188f13cb7b2c71f2a335e3a4fc328 BTC',
  ]);
  expect(chainsFrom({ CHAINS: '' })).toEqual(known);
  expect(chainsFrom({ CHAINS: ' [] ' })).toEqual(known);
  for (const { family, nativeDecimals } of known)
    expect(nativeDecimals).toBe({ evm: 18, solana: 9, bitcoin: 8 }[family]);
});

test('a chain is found by its name and by its CAIP-2 id, spelled exactly', () => {
  expect(findChain(known, 'base')?.caip2).toBe('eip155:8453');
  expect(findChain(known, 'eip155:8453')?.name).toBe('base');
  for (const text of [
    'Base',
    'BASE',
    'base ',
    '8453',
    'eip155:08453',
    'EIP155:8453',
    'eip155:',
    '',
    'toString',
    'SOLANA',
  ]) {
    expect(findChain(known, text)).toBeNull();
  }
});

const DOLLAR = { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', symbol: 'USDC', decimals: 6, isCash: true };

test('a row with a known name changes only its own fields', () => {
  const chains = chainsFrom({ CHAINS: JSON.stringify([{ name: 'anvil', confirmations: 3, pollIntervalMs: 100 }]) });
  expect(findChain(chains, 'anvil')).toEqual({ ...findChain(known, 'anvil'), confirmations: 3, pollIntervalMs: 100 });
  expect(chains).toHaveLength(known.length);
});

test("an operator's list of tokens replaces the built-in list", () => {
  const chains = chainsFrom({ CHAINS: JSON.stringify([{ name: 'ethereum', tokens: [DOLLAR] }]) });
  const ethereum = findChain(chains, 'ethereum');
  expect(ethereum?.tokens).toEqual([DOLLAR]);
  expect([
    listedToken(ethereum ?? { tokens: [] }, DOLLAR.address),
    listedToken({ tokens: [] }, DOLLAR.address),
  ]).toEqual([DOLLAR, null]);
});

test("every listed token is in its chain's canonical spelling, and is listed once", () => {
  for (const { tokens } of known) {
    const addresses = tokens.map(({ address }) => address);
    const canonical = addresses.map((address) => canonicalAddress(address) ?? (isPublicKey(address) ? address : null));
    expect(canonical).toEqual(addresses);
    expect(new Set(addresses).size).toBe(addresses.length);
  }
});

test('a whole row adds a chain', () => {
  const chains = chainsFrom({ CHAINS: JSON.stringify([LOCAL]) });
  expect(findChain(chains, 'eip155:1337')).toEqual({ ...LOCAL, tokens: [] });
  expect(chains).toHaveLength(known.length + 1);
});

const FEES = { minTip: '1000000000', finalDepth: 64, dataFee: 'none', gasEstimate: 'linea' } as const;

test('a row of an EVM chain may set its minimum tip, finality and data fee, or omit them', () => {
  const chains = chainsFrom({
    CHAINS: JSON.stringify([
      { ...LOCAL, ...FEES },
      { name: 'anvil', finalDepth: 9 },
    ]),
  });
  expect(findChain(chains, 'local')).toEqual({ ...LOCAL, ...FEES, tokens: [] });
  expect(findChain(chains, 'anvil')).toEqual({ ...findChain(known, 'anvil'), finalDepth: 9 });
});

test.each<[string, string, string | null, number, string, string | null]>([
  //  name        chain id  tip floor      final   data fee    gas estimate
  ['polygon', '137', '25000000000', 256, 'looked for', null],
  ['bsc', '56', '50000000', 64, 'looked for', null],
  ['avalanche', '43114', null, 64, 'looked for', null],
  ['linea', '59144', null, 1024, 'none', 'linea'],
  ['scroll', '534352', null, 1024, 'scroll', null],
  ['gnosis', '100', '1000000000', 64, 'none', null],
  ['unichain', '130', null, 1024, 'op-stack', null],
  ['plasma', '9745', null, 64, 'none', null],
  ['hyperevm', '999', null, 64, 'none', null],
])('the row of %s has the documented fees and finality', (name, chainId, minTip, finalDepth, dataFee, estimate) => {
  const chain = findChain(known, name);
  expect(chain).toMatchObject({ caip2: `eip155:${chainId}`, family: 'evm', nativeDecimals: 18, finalDepth });
  expect([chain?.minTip ?? null, chain?.gasEstimate ?? null]).toEqual([minTip, estimate]);
  // Rows without a data fee use the contract of the OP stack.
  expect(chain?.dataFee ?? 'looked for').toBe(dataFee);
  expect(countedFinalDepth(chain ?? { confirmations: 1 })).toBe(BigInt(finalDepth));
  // The fee cap suffices for a payment to an account without code at ten times the minimum tip.
  expect(BigInt(chain?.maxFee ?? 0)).toBeGreaterThan(21_000n * 10n * BigInt(minTip ?? 0));
});

test('four times the confirmations of a chain are final by default', () => {
  expect(countedFinalDepth({ confirmations: 3 })).toBe(12n);
  expect(known.every(({ finalDepth, confirmations }) => finalDepth === undefined || finalDepth >= confirmations)).toBe(
    true,
  );
});

test.each<[string, unknown, string]>([
  ['a tip as a number', [{ name: 'anvil', minTip: 1 }], "invalid 'minTip'"],
  ['a negative tip', [{ name: 'anvil', minTip: '-1' }], "invalid 'minTip'"],
  ['no final depth', [{ name: 'anvil', finalDepth: 0 }], "invalid 'finalDepth'"],
  ['a final depth below the confirmations', [{ name: 'ethereum', finalDepth: 3 }], "'finalDepth' of ethereum is below"],
  ['a data fee that there is not', [{ name: 'anvil', dataFee: 'arbitrum' }], "invalid 'dataFee'"],
  ['an estimate that there is not', [{ name: 'anvil', gasEstimate: null }], "invalid 'gasEstimate'"],
  ['a tip floor of Solana', [{ name: 'solana', minTip: '1' }], "'minTip', which is for EVM chains only"],
  ['no list', { name: 'anvil' }, 'a JSON list'],
  ['a row that is no object', ['anvil'], 'Each row must be an object'],
  ['a null row', [null], 'Each row must be an object'],
  ['a row without a name', [{ confirmations: 3 }], 'must have the fields'],
  ['a new chain with a field missing', [{ ...LOCAL, explorer: undefined }], 'must have the fields'],
  ['an unknown field', [{ name: 'anvil', confirmation: 3 }], "unknown field 'confirmation'"],
  ['a field of the prototype', [{ name: 'anvil', constructor: 3 }], "unknown field 'constructor'"],
  ['no confirmations', [{ name: 'anvil', confirmations: 0 }], "invalid 'confirmations'"],
  ['a fraction of a confirmation', [{ name: 'anvil', confirmations: 1.5 }], "invalid 'confirmations'"],
  ['confirmations as text', [{ name: 'anvil', confirmations: '3' }], "invalid 'confirmations'"],
  ['a busy poll', [{ name: 'anvil', pollIntervalMs: 0 }], "invalid 'pollIntervalMs'"],
  ['a fee as a number', [{ name: 'anvil', maxFee: 1e15 }], "invalid 'maxFee'"],
  ['a fee with an exponent', [{ name: 'anvil', maxFee: '1e15' }], "invalid 'maxFee'"],
  ['a link that runs code', [{ name: 'anvil', explorer: 'javascript:alert("{hash}")' }], "invalid 'explorer'"],
  ['a link without the hash', [{ name: 'anvil', explorer: 'https://example.org/' }], "invalid 'explorer'"],
  ['tokens that are no list', [{ name: 'anvil', tokens: {} }], "invalid 'tokens'"],
  [
    'a token in another spelling',
    [{ name: 'anvil', tokens: [{ ...DOLLAR, address: DOLLAR.address.toLowerCase() }] }],
    "invalid 'tokens'",
  ],
  ['a token without digits', [{ name: 'anvil', tokens: [{ ...DOLLAR, decimals: undefined }] }], "invalid 'tokens'"],
  ['a token with a field too many', [{ name: 'anvil', tokens: [{ ...DOLLAR, name: 'Dollar' }] }], "invalid 'tokens'"],
  ['a name with capitals', [{ ...LOCAL, name: 'Local' }], "invalid 'name'"],
  ['a name in the form of CAIP-2', [{ ...LOCAL, name: 'eip155:1' }], "invalid 'name'"],
  ['a family that there is not', [{ ...LOCAL, family: 'cosmos' }], "invalid 'family'"],
  ['a family that is not the one of its CAIP-2', [{ ...LOCAL, family: 'solana' }], 'belongs to another family'],
  ['a padded chain id', [{ ...LOCAL, caip2: 'eip155:01337' }], "invalid 'caip2'"],
  ['a short genesis', [{ ...LOCAL, caip2: 'solana:5eykt4UsFv8P8NJdTREpY1v' }], "invalid 'caip2'"],
  ['a token in the spelling of another family', [{ name: 'solana', tokens: [DOLLAR] }], "invalid 'tokens'"],
  ['another identity under a known name', [{ ...LOCAL, name: 'ethereum' }], 'Use another name for another chain'],
  ['a known chain under a second name', [{ ...LOCAL, caip2: 'eip155:1' }], 'must not both be eip155:1'],
  [
    'one name twice',
    [
      { name: 'anvil', confirmations: 2 },
      { name: 'anvil', confirmations: 3 },
    ],
    'more than once',
  ],
  ['a new name twice', [LOCAL, LOCAL], 'more than once'],
])('the setting with %s stops the service, with a message that names the field', (_name, rows, words) => {
  expect(() => chainsFrom({ CHAINS: JSON.stringify(rows) })).toThrow(words);
});

test('a setting that is not JSON stops the service', () => {
  expect(() => chainsFrom({ CHAINS: 'anvil' })).toThrow('must be JSON');
});

test('an override of a prototype key in JSON changes nothing', () => {
  expect(() => chainsFrom({ CHAINS: '[{"name":"anvil","__proto__":{"confirmations":1}}]' })).toThrow(
    "field '__proto__'",
  );
});
