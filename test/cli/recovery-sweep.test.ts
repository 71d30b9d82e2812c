import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { blockhash } from '@solana/kit';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { readRaw } from '#chains/bitcoin/rules/raw-transaction.ts';
import { readSigned as evmSigned } from '#chains/evm/rules/assemble.ts';
import { readSigned as solanaSigned } from '#chains/solana/rules/assemble.ts';
import { bytesOf, isPublicKey } from '#chains/solana/rules/address.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { recoverySecretOf } from '#cli/recovery/key-file.ts';
import { intentOf } from '#cli/recovery/transfer.ts';
import { signedWith } from '#cli/recovery/whole-key.ts';
import { verifiesBip340 } from '#curve/signatures.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { KeyShare } from '#mpc/share.ts';
import { deposit } from '#local/bitcoin/faucet.ts';
import { decoded } from '#local/bitcoin/transaction.ts';
import type { Recovery } from '../attacks/recovery-scene.ts';
import { offline, startRecovery } from '../attacks/recovery-scene.ts';
import { present } from '../chains/evm/cast.ts';
import { stranger as bitcoinStranger } from '../chains/bitcoin/cast.ts';
import { stranger as solanaStranger } from '../chains/solana/cast.ts';
import { dealt as frostKey } from '../mpc/frost/signing-room.ts';

/**
 * Covers `recover sweep` against a job that its machine did not make: a thief with the online
 * machine, or with the medium between the two, writes any file.
 */

const chainOf = (name: string) => present(findChain(chainsFrom({}), name));
const [ETHEREUM, SOLANA, REGTEST] = ['ethereum', 'solana', 'bitcoin-regtest'].map(chainOf) as [Chain, Chain, Chain];
type Chain = ReturnType<typeof chainOf>;
const MALLORY = '0x00000000000000000000000000000000bAC0BAC0';
/** A contract that no operator lists. */
const TOKEN = '0x2222222222222222222222222222222222222222';
const EVM_TO = '0x1111111111111111111111111111111111111111';
const [SOLANA_TO, BITCOIN_TO] = [solanaStranger(), bitcoinStranger()];
const GWEI = 10n ** 9n;

type Payment = Record<string, unknown> & { readonly chain: string; readonly from: string; readonly payload: string };

let recovery: Recovery;
let folder: string;
let packages: readonly RecoveryPackage[];
let exportFile: string;
let wallets: { readonly evm: string; readonly solana: string; readonly p2tr: string; readonly p2wpkh: string };

beforeAll(async () => {
  recovery = await startRecovery(3, 2);
  folder = await mkdtemp(join(tmpdir(), 'conclave-job-'));
  const ecdsa = recovery.deal();
  const rooms = (['frost-ed25519', 'frost-secp256k1-tr'] as const).map((scheme) => frostKey(scheme, 3, 2));
  const ofRooms = rooms.flatMap(({ key, shares }) =>
    [...shares.values()].map((share): KeyShare => ({ ...share, keyId: keyIdOf(key.scheme, key.publicKey) })),
  );
  packages = [...(await recovery.exported(ecdsa)), ...(await recovery.exportedShares(ofRooms))];
  exportFile = await recovery.file(packages);
  const address = ({ caip2 }: Chain, scheme: KeyScheme, publicKey: Uint8Array) =>
    present(addressOn(caip2, scheme, walletKey({ scheme, publicKey }, caip2)));
  const [edwards, taproot] = rooms.map(({ key }) => key.publicKey);
  wallets = {
    evm: address(ETHEREUM, 'ecdsa-secp256k1', ecdsa.publicKey),
    solana: address(SOLANA, 'frost-ed25519', present(edwards)),
    p2tr: address(REGTEST, 'frost-secp256k1-tr', present(taproot)),
    p2wpkh: address(REGTEST, 'ecdsa-secp256k1', ecdsa.publicKey),
  };
});
afterAll(async () => {
  await recovery.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => vi.unstubAllEnvs());

const RECIPIENTS = [
  ...[`ethereum=${EVM_TO}`, `solana=${SOLANA_TO}`, `${REGTEST.caip2}=${BITCOIN_TO}`].flatMap((to) => ['--to', to]),
  '--token',
  `ethereum=${TOKEN}`,
];

async function sweepWords(job: unknown, words: readonly string[] = RECIPIENTS): Promise<readonly string[]> {
  const file = join(folder, 'job.json');
  await writeFile(file, JSON.stringify(job));
  const keys = recovery.keyFiles.flatMap((key) => ['--key', key]);
  return ['recover', 'sweep', ...keys, '--peers', recovery.peersFile, '--job', file, ...words];
}

const sweep = async (payments: readonly unknown[], words: readonly string[] = RECIPIENTS, file = exportFile) =>
  offline(...(await sweepWords({ version: 1, payments }, words)), '--yes', file);

interface EvmTerms {
  readonly to?: string;
  readonly gasPrice?: bigint;
  readonly nonce?: bigint;
  readonly tokenAddress?: string | null;
}

function evmPayment({ to = EVM_TO, gasPrice = GWEI, nonce = 0n, tokenAddress = null }: EvmTerms = {}): Payment {
  const transfer = { from: wallets.evm, to, tokenAddress, amount: amountOf(10n ** 18n) };
  const price = { maxFeePerGas: gasPrice.toString(), maxPriorityFeePerGas: '1' };
  const quote = { ...price, gasLimit: '100000', maxFee: amountOf(100_000n * gasPrice) };
  const { payload } = rulesFor(ETHEREUM).compose(intentOf(ETHEREUM, transfer, amountOf(10n ** 30n)), quote, nonce);
  return { chain: ETHEREUM.caip2, ...transfer, nonce: nonce.toString(), payload, validUntil: null, evidence: [] };
}

function solanaPayment(to: string = SOLANA_TO): Payment {
  const transfer = { from: wallets.solana, to, tokenAddress: null, amount: amountOf(5_000_000n) };
  const quote = { unitLimit: 2_000, unitPrice: 100_000n, token: null, maxFee: amountOf(0n) };
  const value = blockhash('11111111111111111111111111111112');
  const anchor = { anchor: { kind: 'nonce', nonceSlot: 0, value }, slot: 7n, validUntil: null };
  const { payload } = rulesFor(SOLANA).compose(intentOf(SOLANA, transfer, amountOf(10n ** 9n)), quote, anchor);
  return { chain: SOLANA.caip2, ...transfer, nonce: '0', payload, validUntil: null, evidence: [] };
}

interface Funded {
  readonly utxo: Utxo;
  /** The transaction that made it, without its witness. */
  readonly parent: string;
}

function funded(address: string, amount: bigint): Funded {
  const network = present(networkOf(REGTEST.caip2));
  const read = present(readRaw(deposit(present(scriptOf(network, address)), amount).payment));
  return { utxo: { txid: read.name, vout: 0, amount }, parent: read.stripped };
}

function bitcoinPayment(from: string, utxos: readonly Utxo[], evidence: readonly string[], fee = 1_000n): Payment {
  const total = utxos.reduce((sum, { amount }) => sum + amount, 0n);
  const transfer = { from, to: BITCOIN_TO, tokenAddress: null, amount: amountOf(total - fee) };
  const quote = { terms: { utxos, change: 0n }, maxFee: amountOf(fee) };
  const { payload } = rulesFor(REGTEST).compose(intentOf(REGTEST, transfer, amountOf(10n ** 9n)), quote, 0n);
  return { chain: REGTEST.caip2, ...transfer, nonce: '0', payload, validUntil: null, evidence };
}

interface Signed {
  readonly transactions: readonly { readonly chain: string; readonly raw: string; readonly hash: string }[];
}

/** Asserts that a job signs nothing, and that the reason has these words. */
async function refuses(payments: readonly unknown[], words: RegExp, recipients = RECIPIENTS): Promise<void> {
  const answer = await sweep(payments, recipients);
  expect([answer.code, answer.output]).toEqual([1, '']);
  expect(answer.errors).toMatch(words);
}

test('a right job is signed for each key scheme, and no output has a secret', async () => {
  const [one, other] = [funded(wallets.p2wpkh, 60_000n), funded(wallets.p2wpkh, 40_000n)];
  const job = [
    evmPayment(),
    evmPayment({ nonce: 1n, tokenAddress: TOKEN }),
    solanaPayment(),
    bitcoinPayment(wallets.p2wpkh, [one.utxo, other.utxo], [one.parent, other.parent]),
    bitcoinPayment(wallets.p2tr, [funded(wallets.p2tr, 90_000n).utxo], []),
  ];
  const { code, output, errors } = await sweep(job);
  expect([code, errors]).toEqual([0, errors]);
  const { transactions } = JSON.parse(output) as Signed;
  const [first, second, solana, segwit, taproot] = transactions.map(({ raw }) => raw);
  for (const raw of [first, second]) {
    const read = evmSigned(present(raw));
    expect(read.ok && read.value.from).toBe(wallets.evm);
  }
  const sent = present(solanaSigned(present(solana)));
  expect(isPublicKey(wallets.solana) && ed25519.verify(sent.signature, sent.message, bytesOf(wallets.solana))).toBe(
    true,
  );
  for (const raw of [segwit, taproot]) {
    const { outputs } = decoded(present(raw).slice(2));
    expect(outputs.map(({ script }) => bytesToHex(Uint8Array.from(script)))).toEqual([
      bytesToHex(present(scriptOf(present(networkOf(REGTEST.caip2)), BITCOIN_TO))),
    ]);
  }
  const table = errors.split('\n').map((line) => line.split(/ {2,}/));
  expect(table).toContainEqual(['ethereum', wallets.evm, '1 ETH', EVM_TO, '0.0001 ETH']);
  expect(table).toContainEqual(['bitcoin-regtest', wallets.p2tr, '0.00089 BTC', BITCOIN_TO, '0.00001 BTC']);
  expect(errors).toContain(`1000000000000000000 smallest units of ${TOKEN}`);
  expect(errors).toContain('Highest fees on ethereum together: 0.0002 ETH');

  const chains = [ETHEREUM, SOLANA, REGTEST].flatMap(({ caip2 }) => ['--chain', caip2]);
  const keys = recovery.keyFiles.flatMap((key) => ['--key', key]);
  const opened = await offline('recover', 'open', ...keys, '--peers', recovery.peersFile, ...chains, exportFile);
  const known = (JSON.parse(opened.output) as readonly { readonly secret: string }[]).map(({ secret }) => secret);
  const secrets = [...known, ...recovery.keyFiles.map(recoverySecretOf)];
  expect([secrets.length, secrets.filter((secret) => `${output}${errors}`.includes(secret))]).toEqual([7, []]);
});

test('a payment to another recipient is not signed, whether the job names it or the bytes alone pay it', async () => {
  await refuses([evmPayment({ to: MALLORY })], /Payment 1 of the job: it pays 0x00.*and --to names/);
  await refuses([{ ...evmPayment({ to: MALLORY }), to: EVM_TO }], /its bytes are not this payment: wrong-recipient/);
  await refuses([{ ...solanaPayment(solanaStranger()), to: SOLANA_TO }], /not this payment: wrong-transfer/);
  await refuses([evmPayment(), evmPayment({ nonce: 1n, to: MALLORY })], /Payment 2 of the job/);
  await refuses([solanaPayment()], /no --to names an address on this chain/, ['--to', `ethereum=${EVM_TO}`]);
});

test('bytes that do not match their description are not signed', async () => {
  await refuses([{ ...evmPayment(), amount: '5' }], /wrong-value/);
  await refuses([{ ...evmPayment(), payload: '0x02' }], /its bytes are not this payment/);
  await refuses([{ ...evmPayment(), chain: SOLANA.caip2, from: wallets.solana, to: SOLANA_TO }], /not this payment/);
  await refuses([{ ...evmPayment(), tokenAddress: TOKEN }], /wrong-recipient/);
});

test('a fee above the ceiling of co-signers is not signed, unless MAX_FEES raises it', async () => {
  // Ethereum has a ceiling of 0.05 ETH.
  const dear = evmPayment({ gasPrice: 501n * GWEI });
  await refuses([dear], /its fee is above the ceiling of 0\.05 ETH/);
  vi.stubEnv('MAX_FEES', JSON.stringify({ [ETHEREUM.caip2]: (10n ** 17n).toString() }));
  expect((await sweep([dear])).code).toBe(0);
  // One input has about 110 virtual bytes, for which 150,000 satoshi are the most.
  const utxo = funded(wallets.p2tr, 1_000_000n).utxo;
  await refuses([bitcoinPayment(wallets.p2tr, [utxo], [], 150_001n)], /more than its size can justify/);
});

test('a wallet whose key was not rebuilt, and a recipient whose key was, are refused', async () => {
  await refuses([{ ...evmPayment(), from: MALLORY }], /no key that was rebuilt has the address/);
  const own = ['--to', `ethereum=${wallets.evm}`];
  await refuses([{ ...evmPayment(), to: wallets.evm }], /whose key was rebuilt/, own);
  await refuses([{ ...evmPayment(), amount: '0' }], /it moves nothing/);
  await refuses([evmPayment({ tokenAddress: EVM_TO })], /to its own contract/);
});

test('a token that is not listed moves only when the person at the offline machine names it', async () => {
  const words = /it moves 0x3{40} on ethereum, which is not listed\. Name it with --token/;
  await refuses([evmPayment({ tokenAddress: `0x${'3'.repeat(40)}` })], words);
});

test('no two payments use one UTXO, one nonce or one asset', async () => {
  const [one, other] = [funded(wallets.p2tr, 90_000n).utxo, funded(wallets.p2tr, 80_000n).utxo];
  const words = /Payment 2 of the job: another payment of the job uses the same UTXO, nonce or asset/;
  await refuses([bitcoinPayment(wallets.p2tr, [one], []), bitcoinPayment(wallets.p2tr, [other, one], [])], words);
  await refuses([evmPayment(), evmPayment({ tokenAddress: TOKEN })], words);
  await refuses([evmPayment(), evmPayment({ nonce: 1n })], words);
  await refuses([solanaPayment(), solanaPayment()], words);
});

test('the amounts of segwit UTXOs are proven, so no two signings join to a payment of the difference to a miner', async () => {
  // BIP-143 signs the amount of its own input alone. Each job is true for one of the two UTXOs, and
  // the signatures of both together spend 10 BTC for an amount of 0.001.
  const [one, other] = [funded(wallets.p2wpkh, 500_000_000n), funded(wallets.p2wpkh, 500_000_000n)];
  const small = ({ utxo }: Funded) => ({ ...utxo, amount: 50_000n });
  const evidence = [one.parent, other.parent];
  const unproven = /the amounts of its UTXOs are not proven/;
  await refuses([bitcoinPayment(wallets.p2wpkh, [small(one), small(other)], evidence)], unproven);
  await refuses([bitcoinPayment(wallets.p2wpkh, [one.utxo, small(other)], evidence)], unproven);
  await refuses([bitcoinPayment(wallets.p2wpkh, [small(one), other.utxo], evidence)], unproven);
  await refuses([bitcoinPayment(wallets.p2wpkh, [one.utxo, other.utxo], [one.parent])], unproven);
  expect((await sweep([bitcoinPayment(wallets.p2wpkh, [one.utxo, other.utxo], evidence)])).code).toBe(0);
});

test('the table shows what a payment returns to its wallet', async () => {
  const { utxo } = funded(wallets.p2tr, 90_000n);
  const transfer = { from: wallets.p2tr, to: BITCOIN_TO, tokenAddress: null, amount: amountOf(1_000n) };
  const quote = { terms: { utxos: [utxo], change: 88_000n }, maxFee: amountOf(1_000n) };
  const { payload } = rulesFor(REGTEST).compose(intentOf(REGTEST, transfer, amountOf(10n ** 9n)), quote, 0n);
  const { code, errors } = await sweep([
    { chain: REGTEST.caip2, ...transfer, nonce: '0', payload, validUntil: null, evidence: [] },
  ]);
  expect(code).toBe(0);
  expect(errors).toContain('0.00001 BTC, and 0.00088 BTC return to the wallet');
});

test('a job with an unknown field, or of another form, is refused, and its content is not printed', async () => {
  await refuses([], /The job has no payment/);
  await refuses([{ ...evmPayment(), feeRecipient: MALLORY }], /is not a job of `recover watch`: payments: 0: /);
  await refuses([{ ...evmPayment(), amount: '1e18' }], /payments: 0: amount: is not an amount/);
  await refuses([{ ...evmPayment(), amount: 1 }], /payments: 0: amount/);
  const [keyFile = ''] = recovery.keyFiles;
  const words = (await sweepWords({ version: 2, payments: [] })).map((word) =>
    word.endsWith('job.json') ? keyFile : word,
  );
  const answer = await offline(...words, '--yes', exportFile);
  expect([answer.code, answer.output, answer.errors]).toEqual([1, '', `${keyFile} is not JSON.\n`]);
  const other = await offline(...(await sweepWords({ version: 2, payments: [] })), '--yes', exportFile);
  expect([other.code, other.output]).toEqual([1, '']);
});

test('a key that too few co-signers signed signs only for an address that the person names', async () => {
  const [first] = await recovery.exported(recovery.deal());
  const dealt = recovery.deal();
  const unsigned = (await recovery.exported(dealt)).map((one) => ({ ...one, signature: present(first).signature }));
  const file = await recovery.file(unsigned);
  const from = present(addressOn(ETHEREUM.caip2, 'ecdsa-secp256k1', dealt.publicKey));
  const job = [{ ...evmPayment(), from }];
  const untrusted = await sweep(job, RECIPIENTS, file);
  expect([untrusted.code, untrusted.output]).toEqual([1, '']);
  expect(untrusted.errors).toContain('fewer co-signers signed it than sign together');
  expect((await sweep(job, [...RECIPIENTS, '--address', from], file)).code).toBe(0);
});

test('nothing is signed without the answer of the person', async () => {
  const words = [...(await sweepWords({ version: 1, payments: [evmPayment()] })), exportFile];
  const answered = (answer: string) =>
    new Promise<readonly [number | string, string, string]>((resolve) => {
      const child = execFile(
        process.execPath,
        ['cli/conclave.ts', ...words, '--bundled-node'],
        (error, output, errors) => resolve([error?.code ?? 0, output, errors]),
      );
      child.stdin?.end(`${answer}\n`);
    });
  const [code, output, errors] = await answered('no');
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(/ethereum.*1 ETH[^]*Sign this\? Type yes: [^]*Not signed/);
  const [accepted, signed] = await answered('yes');
  expect([accepted, (JSON.parse(signed) as Signed).transactions.length]).toEqual([0, 1]);
});

test.each([
  ['no recipient', []],
  ['two recipients on one chain', ['--to', `ethereum=${EVM_TO}`, '--to', `eip155:1=${MALLORY}`]],
  ['an unknown chain', ['--to', `utopia=${EVM_TO}`]],
  ['an address of another chain', ['--to', `solana=${EVM_TO}`]],
  ['a recipient without a chain', ['--to', EVM_TO]],
  ['an option of another form', [...RECIPIENTS, '--chain', ETHEREUM.caip2]],
])('%s is a wrong argument', async (_name, words) => {
  const answer = await sweep([evmPayment()], words);
  expect([answer.code, answer.output]).toEqual([2, '']);
});

test('signatures of whole keys verify for every parity of the keys, and no two have one nonce', () => {
  for (let i = 0; i < 8; i++) {
    const message = Uint8Array.from({ length: 32 }, () => i);
    for (const scheme of ['frost-ed25519', 'frost-secp256k1-tr'] as const) {
      const [publicKey, secret] = inGroupOf(scheme, (group) => {
        const drawn = group.secrets.random();
        return [group.encodePoint(group.multiplyGenerator(drawn)), drawn] as const;
      });
      const signed = [1, 2].map(() => signedWith({ scheme, secret, publicKey }, message));
      const signatures = signed.flatMap((one) => ('bytes' in one ? [one.bytes] : []));
      const verifies = (signature: Uint8Array) =>
        scheme === 'frost-ed25519'
          ? ed25519.verify(signature, message, publicKey, { zip215: false })
          : verifiesBip340(signature, message, publicKey.subarray(1));
      expect(signatures.map(verifies)).toEqual([true, true]);
      expect(new Set(signatures.map((one) => bytesToHex(one.subarray(0, 32)))).size).toBe(2);
    }
  }
});
