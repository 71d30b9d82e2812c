import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { rulesFor } from '#chains/families/rules-for.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { addressOfPublicKey as taprootAddress } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import type { ChainSignature } from '#chains/chain-rules.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { exposureOf } from '#chains/inspect/exposure.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { addressOfPublicKey as solanaAddress } from '#chains/solana/rules/address.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import type { Chain, KeyScheme } from '#domain/asset/chain.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { Action, Intent } from '#domain/transaction/intent.ts';
import { NO_RULES, ruleViolation } from '#domain/policy/rules.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { amount, FRAME } from '../../domain/cast.ts';
import { party } from '../../mpc/dealt-key.ts';
import * as ecdsa from '../../mpc/ecdsa/signing-room.ts';
import * as frost from '../../mpc/frost/signing-room.ts';
import { present } from '../cosigners.ts';

/**
 * Tests that an approval for one network is never valid on another: for every scheme and kind, the
 * signatures for two networks differ in their bytes or in their key. DKLs23 and FROST make the
 * signatures with the shares of the network, and every other network of the family is offered them
 * as the same intent under its own names.
 */

const networks = (...names: readonly string[]) => names.map((name) => present(findChain(chainsFrom({}), name)));
const EVM = networks('ethereum', 'base', 'ethereum-sepolia', 'anvil');
const SOLANA = networks('solana', 'solana-devnet', 'solana-local');
const BITCOIN = networks('bitcoin', 'bitcoin-testnet4', 'bitcoin-signet', 'bitcoin-regtest');

const signers = [party(1), party(3)];
const ecdsaRoom = ecdsa.openRoom(2, [party(1), party(2), party(3)]);
const frostRooms = {
  'frost-ed25519': frost.dealt('frost-ed25519', 3, 2),
  'frost-secp256k1-tr': frost.dealt('frost-secp256k1-tr', 3, 2),
} as const;

/** One key of mallory on each curve, with an address on every network. */
const points = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
const solanaKey = ed25519.getPublicKey(ed25519.utils.randomSecretKey());
const mallory = {
  evm: '0x2222222222222222222222222222222222222222',
  solana: solanaAddress(solanaKey),
  bitcoin: ({ caip2 }: Chain) => taprootAddress(present(networkOf(caip2)), points),
};
const TOKEN = '0x3333333333333333333333333333333333333333';

interface Case {
  readonly scheme: KeyScheme;
  readonly networks: readonly Chain[];
  /** Returns the action that is approved on a network. */
  readonly action: (chain: Chain) => Action;
  /**
   * True when no signature of this kind names a chain: then a warning and the policy rule are the
   * defence.
   */
  readonly isUnbound?: true;
}

const units = amount('100000');
const text = (format: 'eip191' | 'solana-offchain' | 'bip322') => (): Action => ({
  kind: 'message',
  format,
  message: 'I own this address',
});

function typedData(domain: object): Action {
  const types = { Order: [{ name: 'price', type: 'uint256' }] };
  const data = { types, primaryType: 'Order', domain, message: { price: '1' } };
  const read = rulesFor(present(EVM[0])).parseMessage(JSON.stringify(data));
  if (!read.ok) throw new Error(read.refusal);
  return { kind: 'message', ...read.value };
}

/**
 * Returns typed data in its canonical spelling, in which the networks differ only in the chain id.
 */
function typedOn({ caip2 }: Chain): Action {
  const action = typedData({ name: 'Market', chainId: 1 });
  if (action.kind !== 'message') throw new Error('typed data is a message');
  return { ...action, message: action.message.replace('"chainId":1', `"chainId":${String(chainIdOf(caip2))}`) };
}

const payment =
  (to: (chain: Chain) => string) =>
  (chain: Chain): Action => ({
    kind: 'transfer',
    to: to(chain),
    tokenAddress: null,
    amount: units,
  });

const CASES: Readonly<Record<string, Case>> = {
  'EVM transfer': { scheme: 'ecdsa-secp256k1', networks: EVM, action: payment(() => mallory.evm) },
  'EVM transfer of a token': {
    scheme: 'ecdsa-secp256k1',
    networks: EVM,
    action: () => ({ kind: 'transfer', to: mallory.evm, tokenAddress: TOKEN, amount: units }),
  },
  'EVM contract call': {
    scheme: 'ecdsa-secp256k1',
    networks: EVM,
    action: () => ({ kind: 'contract-interaction', to: TOKEN, data: '0x12345678', value: units }),
  },
  'ERC-20 approve': {
    scheme: 'ecdsa-secp256k1',
    networks: EVM,
    action: () => ({ kind: 'erc20-approve', tokenAddress: TOKEN, spender: mallory.evm, amount: units }),
  },
  'EIP-712 with chainId': { scheme: 'ecdsa-secp256k1', networks: EVM, action: typedOn },
  'EIP-712 without chainId': {
    scheme: 'ecdsa-secp256k1',
    networks: EVM,
    action: () => typedData({ name: 'Market' }),
    isUnbound: true,
  },
  'EIP-191 text': { scheme: 'ecdsa-secp256k1', networks: EVM, action: text('eip191'), isUnbound: true },
  'Solana transfer': { scheme: 'frost-ed25519', networks: SOLANA, action: payment(() => mallory.solana) },
  'Solana off-chain message': { scheme: 'frost-ed25519', networks: SOLANA, action: text('solana-offchain') },
  'P2TR payment': { scheme: 'frost-secp256k1-tr', networks: BITCOIN, action: payment(mallory.bitcoin) },
  'P2TR BIP-322': { scheme: 'frost-secp256k1-tr', networks: BITCOIN, action: text('bip322') },
  'P2WPKH payment': { scheme: 'ecdsa-secp256k1', networks: BITCOIN, action: payment(mallory.bitcoin) },
  'P2WPKH BIP-322': { scheme: 'ecdsa-secp256k1', networks: BITCOIN, action: text('bip322') },
};

function keyOn(scheme: KeyScheme, { caip2 }: Chain): Uint8Array {
  const { publicKey } = scheme === 'ecdsa-secp256k1' ? ecdsaRoom.key : frostRooms[scheme].key;
  return walletKey({ scheme, publicKey }, caip2);
}

function intentOn({ scheme, action }: Case, chain: Chain): Intent {
  const from = present(addressOn(chain.caip2, scheme, keyOn(scheme, chain)));
  const frame = { ...FRAME, chain: chain.caip2, from };
  const requested = action(chain);
  if (requested.kind === 'message') return { ...frame, ...requested };
  return { ...frame, ...requested, maxFee: amount('1000000000'), lookalikeOf: null };
}

/** The terms that the coordinator chooses besides the intent, equal on all networks of a family. */
const CHOICES = {
  evm: [{ utxos: [], gasLimit: '60000', maxFeePerGas: '2000', maxPriorityFeePerGas: '1000', maxFee: units }, 4n],
  solana: [
    { unitLimit: 3_000, unitPrice: 10_000n, token: null, maxFee: units },
    { anchor: { kind: 'nonce', nonceSlot: 0, value: mallory.solana }, slot: 0n, validUntil: null },
  ],
  bitcoin: [
    { terms: { utxos: [{ txid: 'ab'.repeat(32), vout: 0, amount: 150_000n }], change: 40_000n }, maxFee: units },
    0n,
  ],
} as const;

/** Returns the intent with its bytes, as co-signers receive them. */
function requestOn(one: Case, chain: Chain) {
  const [intent, rules] = [intentOn(one, chain), rulesFor(chain)];
  if (intent.kind === 'message') return { intent, attempt: null, payload: rules.composeMessage(intent).payload };
  const [quote, anchor] = CHOICES[chain.family];
  const prepared = rules.compose(intent, quote, anchor);
  const attempt = unsignedAttempt({ ...prepared, purpose: 'intent' }, 1, FRAME.createdAtMs);
  return { intent, attempt, payload: attempt.payload };
}

type NetworkRequest = ReturnType<typeof requestOn>;

/** Returns the messages that the key of a network signs for the intent, one for each signature. */
function messagesOf({ intent, payload }: NetworkRequest): readonly Uint8Array[] {
  const inspected = inspectPayload(intent, payload);
  if (!inspected.ok) throw new Error(inspected.refusal);
  return inspected.value.signedMessages;
}

function signatureOn({ scheme }: Case, { caip2 }: Chain, message: Uint8Array): ChainSignature {
  if (scheme === 'ecdsa-secp256k1') {
    return ecdsa.accepted(ecdsa.sign(ecdsa.onChain(ecdsaRoom, caip2), signers, { digest: message }));
  }
  return { bytes: frost.signedNow(frost.onChain(frostRooms[scheme], caip2), { message, signers }) };
}

/** Reports whether a network accepts the signatures for an intent that names this network. */
function isValid(
  { intent, attempt }: Omit<NetworkRequest, 'payload'>,
  chain: Chain,
  given: readonly ChainSignature[],
): boolean {
  const rules = rulesFor(chain);
  if (intent.kind === 'message') return rules.assembleMessage(intent, present(given[0])).ok;
  return rules.assemble(intent, present(attempt), given).ok;
}

const table = Object.entries(CASES);

test.each(table)('%s: no network accepts the signatures that were made for another network', (_name, one) => {
  const requests = new Map(one.networks.map((chain) => [chain, requestOn(one, chain)] as const));
  for (const [chain, here] of requests) {
    const given = messagesOf(here).map((message) => signatureOn(one, chain, message));
    expect([chain.name, isValid(here, chain, given)]).toEqual([chain.name, true]);
    for (const [other, there] of requests) {
      if (other === chain) continue;
      // Tries the same action on the other network, the same bytes for that action, and the
      // original intent with only the network's names changed.
      const relabelled = { ...here.intent, chain: there.intent.chain, from: there.intent.from };
      const tries = [there, { ...there, attempt: here.attempt }, { ...here, intent: relabelled }];
      const taken = tries.some((attempt) => isValid(attempt, other, given));
      expect([chain.name, other.name, taken]).toEqual([chain.name, other.name, one.isUnbound === true]);
    }
  }
});

test.each(table)('%s: the key or the message differs on each network', (_name, one) => {
  const signed = one.networks.map((chain) => {
    const key = bytesToHex(keyOn(one.scheme, chain));
    return messagesOf(requestOn(one, chain)).map((message) => `${key} ${bytesToHex(message)}`);
  });
  const distinct = new Set(signed.flat()).size;
  expect(distinct).toBe(one.isUnbound === true ? 1 : one.networks.length);
});

test.each(table)(
  '%s: the warning is shown and the policy rule refuses exactly when no chain is named',
  (_name, one) => {
    const isUnbound = one.isUnbound === true;
    for (const chain of one.networks) {
      const intent = intentOn(one, chain);
      const codes = warningsOf(intent).map(({ code }) => code);
      const exposure = exposureOf(intent, intent);
      expect([codes.includes('valid-on-every-chain'), exposure.isUnbound]).toEqual([
        isUnbound,
        isUnbound ? true : undefined,
      ]);
      const breach = ruleViolation({ ...NO_RULES, unboundMessages: 'refuse' }, exposure);
      expect(breach).toEqual(isUnbound ? { rule: 'unbound-message' } : null);
      expect([
        ruleViolation(NO_RULES, exposure),
        ruleViolation({ ...NO_RULES, unboundMessages: 'allow' }, exposure),
      ]).toEqual([null, null]);
    }
  },
);
