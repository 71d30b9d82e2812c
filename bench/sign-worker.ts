import type { EvmQuote } from '#chains/evm/rules/compose.ts';
import { hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { getAddressDecoder } from '@solana/kit';
import { parseDevice } from '#devices/device-key.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { CurrentNonce, SolanaQuote } from '#chains/solana/rules/compose.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Device } from '#domain/access/device.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import { newPolicyChangeId, newUserId, parseTokenId, parseVaultId } from '#domain/id.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import type { SignOnceMode } from '#domain/policy/optional-rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import type { Vault, VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient, cosignersOf, transportOf } from '#cosigner-client/client.ts';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { mandateDigest } from '#devices/policy-succession.ts';
import { generateKey } from '../test/cosigner/key/generate-key.ts';
import { proofFault } from '#jobs/keys/prove-key.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { vaultFromSpec } from '#domain/vault/new-vault.ts';
import { newTransaction } from '#objects/vault/writes/new-transaction.ts';

/**
 * One signature per request, by the scheme and rules that its path names: the work between the last
 * approval and the signed bytes of a new transfer, without a call to a chain. For BIP-340 it is the
 * proof that a new key can sign: one message, as for one UTXO, without a transaction.
 */

/** The differences between the vaults that sign here. */
interface Kind {
  readonly scheme: KeyScheme;
  readonly signOnce: SignOnceMode;
}

interface Scene {
  /** How many co-signers sign together: the minimum of the deployment. */
  readonly threshold: number;
  readonly vault: Vault;
  readonly first: AdoptedPolicy;
  readonly key: VaultKey;
  /** Null when no transaction is made. */
  readonly rules: ChainRules | null;
  readonly address: string;
  readonly signers: readonly Signer[];
}

/** A signer whose device approves. */
interface Signer {
  readonly actor: Actor;
  readonly device: Device;
  readonly key: CryptoKey;
}

const CHAINS: Readonly<Record<KeyScheme, string | null>> = {
  'ecdsa-secp256k1': 'anvil',
  'frost-ed25519': 'solana-local',
  'frost-secp256k1-tr': null,
};

/** The kinds by their paths. */
const KINDS: Readonly<Record<string, Kind>> = {
  '/ecdsa-secp256k1': { scheme: 'ecdsa-secp256k1', signOnce: 'quorum' },
  '/ecdsa-secp256k1/receipts': { scheme: 'ecdsa-secp256k1', signOnce: 'every-cosigner' },
  '/frost-ed25519': { scheme: 'frost-ed25519', signOnce: 'quorum' },
  '/frost-secp256k1-tr': { scheme: 'frost-secp256k1-tr', signOnce: 'quorum' },
};

/**
 * A coordinator has bindings for three co-signers. Here the fourth is bound as well, so that a
 * request costs the same at each.
 */
interface SignEnv extends CoordinatorEnv {
  readonly COSIGNER_4?: Fetcher;
}

const scenes = new Map<string, Promise<Scene>>();
let nonce = 0n;

export default {
  async fetch(request: Request, env: SignEnv): Promise<Response> {
    const path = new URL(request.url).pathname;
    const cosigners = allCosigners(env);
    const scene = await (scenes.get(path) ?? opened(cosigners, path));
    return scene.rules === null ? proven(cosigners, scene) : signed(cosigners, scene, scene.rules);
  },
} satisfies ExportedHandler<SignEnv>;

function allCosigners(env: SignEnv): readonly CosignerClient[] {
  const { COSIGNER_4: binding } = env;
  if (binding === undefined) return cosignersOf(env);
  const index = present(parsePartyIndex(4));
  return [...cosignersOf(env), cosignerClient(index, { ...transportOf({ index, binding }), coordinatorSecret: null })];
}

function opened(cosigners: readonly CosignerClient[], path: string): Promise<Scene> {
  const scene = setUp(cosigners, path);
  scenes.set(path, scene);
  return scene;
}

async function signed(cosigners: readonly CosignerClient[], scene: Scene, rules: ChainRules): Promise<Response> {
  const { vault, key, address, signers } = scene;
  const nowMs = Date.now();
  const { actor } = present(signers[0]);
  const request = {
    chain: rules.chain.name,
    action: { kind: 'transfer', to: address, tokenAddress: null, amount: present(parseAmount('1000')) } as const,
    note: null,
    externalId: null,
    acceptLookalikeOf: null,
    speed: 'normal' as const,
    idempotency: null,
  };
  const position = { vault, chain: rules.chain, from: address, lookalikeOf: null, actor, nowMs };
  const transaction = newTransaction(request, position);
  const { intent } = transaction;
  if (intent.kind !== 'transfer') throw new Error('a transfer is no message');
  const attempt = attemptOf(rules, intent, nowMs);
  const outcome = await thresholdSign(cosigners, {
    key,
    intent,
    attempt,
    approvals: await Promise.all(signers.map(async (signer) => approvalOf(signer, transaction.digest, nowMs))),
    policies: sourceOf(scene.first),
    evidence: [],
  });
  if (!outcome.ok) return new Response(outcome.reason, { status: 500 });
  const assembled = rules.assemble(intent, attempt, outcome.signatures);
  return assembled.ok ? new Response(assembled.value.hash) : new Response(assembled.refusal.detail, { status: 500 });
}

/** Returns an approval by a device of the signer: the co-signers count no others here. */
async function approvalOf({ actor, device, key }: Signer, digest: string, nowMs: number): Promise<Approval> {
  const signature = Buffer.from(await crypto.subtle.sign('Ed25519', key, hexToBytes(digest))).toString('base64url');
  return { actor, digest, device: { keyId: device.keyId, signature, assertion: null }, atMs: nowMs };
}

async function newSigner(): Promise<Signer> {
  const [userId, tokenId] = [newUserId(Date.now(), randomBytes(10)), present(parseTokenId('0123456789abcdef'))];
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  if (!('privateKey' in pair)) throw new Error('a device has a pair of keys');
  const { x = '' } = (await crypto.subtle.exportKey('jwk', pair.publicKey)) as JsonWebKey;
  const publicKey = Buffer.from(x, 'base64url').toString('hex');
  const nothing = { credentialId: null, rpId: null, origin: null };
  const device = parseDevice({ userId, algorithm: 'ed25519', publicKey, ...nothing });
  if (typeof device === 'string') throw new Error(device);
  return { actor: { userId, tokenId, address: null }, device, key: pair.privateKey };
}

function attemptOf(rules: ChainRules, intent: TransferIntent, nowMs: number): Attempt {
  const maxFee = present(parseAmount('42000000000000'));
  nonce += 1n;
  // The quotes have the types of their chains. Rules that are found by the name of a chain accept
  // any type.
  if (rules.chain.family === 'evm') {
    const quote: EvmQuote = {
      utxos: [],
      gasLimit: '21000',
      maxFeePerGas: '2000000000',
      maxPriorityFeePerGas: '1000000000',
      maxFee,
    };
    return unsignedAttempt({ purpose: 'intent', ...rules.compose(intent, quote, nonce) }, 1, nowMs);
  }
  const quote: SolanaQuote = { unitLimit: 3_000, unitPrice: 10_000n, token: null, maxFee };
  // A new value each time: the same bytes are never signed for two transactions.
  const anchor: CurrentNonce = {
    anchor: { kind: 'nonce', nonceSlot: 0, value: getAddressDecoder().decode(randomBytes(32)) },
    slot: 0n,
    validUntil: null,
  };
  return unsignedAttempt({ purpose: 'intent', ...rules.compose(intent, quote, anchor) }, 1, nowMs);
}

/** Returns the policies of a vault with this first policy. */
function sourceOf(first: AdoptedPolicy): PolicySource {
  return { policy: first.policy, adoptedVersions: {}, after: async (version) => (version < 1 ? [first] : []) };
}

/** Returns the first policy with the approvals of every device in it. */
async function founded(policy: Policy, signers: readonly Signer[], nowMs: number): Promise<AdoptedPolicy> {
  const id = newPolicyChangeId(nowMs, randomBytes(10));
  const terms = { id, note: null, createdAtMs: nowMs, expiresAtMs: nowMs + CONFIGURATION.decisionPeriodSeconds * 1000 };
  const digest = mandateDigest(terms, policy);
  const approvals = await Promise.all(signers.map(async (signer) => approvalOf(signer, digest, nowMs)));
  return { policy, mandate: { ...terms, policy, approvals } };
}

async function proven(cosigners: readonly CosignerClient[], { key, threshold }: Scene): Promise<Response> {
  const fault = await proofFault(cosigners.slice(0, threshold), { ...key, threshold, epoch: 1 });
  return fault === null ? new Response('proven') : new Response(fault.reason, { status: 500 });
}

async function setUp(cosigners: readonly CosignerClient[], path: string): Promise<Scene> {
  const { scheme, signOnce } = present(KINDS[path]);
  const threshold = Math.floor(cosigners.length / 2) + 1;
  const name = CHAINS[scheme];
  const rules = name === null ? null : rulesFor(present(findChain(chainsFrom({}), name)));
  const id = present(parseVaultId(900_000 + Object.keys(KINDS).indexOf(path)));
  const signers = [await newSigner(), await newSigner()];
  const spec = {
    configuration: { ...CONFIGURATION, chains: name === null ? [] : [name] },
    members: signers.map(({ actor }) => ({ userId: actor.userId, roles: ['signer'] as const })),
    threshold: 2,
    signingThreshold: threshold,
    approvalMode: 'device',
    devices: signers.map(({ device }) => device),
    rules: { ...NO_RULES, signOnce },
  } as const;
  const created = vaultFromSpec({ id, reference: 'bench', foundedAtMs: Date.now(), ...spec });
  if (!created.ok) throw new Error(created.refusal);
  const first = await founded(created.value.policy, signers, Date.now());
  const generated = await generateKey(cosigners, { scheme, policies: [first] });
  if (!generated.ok) throw new Error(generated.refusal.reason);
  const publicKey = hexToBytes(generated.value.publicKey);
  const caip2 = rules?.chain.caip2 ?? '';
  const address = addressOn(caip2, scheme, walletKey({ scheme, publicKey }, caip2)) ?? '';
  const key: VaultKey = { ...generated.value, addresses: name === null ? {} : { [name]: address } };
  return { threshold, vault: { ...created.value, keys: [key] }, first, key, rules, address, signers };
}

const CONFIGURATION = {
  name: 'bench',
  initialState: 'SUBMITTED',
  decisionPeriodSeconds: 3600,
  mostPending: 100,
} as const;

function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('the bench has a value that does not parse');
  return value;
}
