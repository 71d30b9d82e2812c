import { hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { adapterFor } from '#chains/adapters.ts';
import type { ChainAdapter } from '#chains/chain-adapter.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { parseAmount } from '#domain/amount.ts';
import { unsignedAttempt } from '#domain/event.ts';
import { newUserId, parseTokenId, parseVaultId } from '#domain/id.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy.ts';
import { NO_RULES } from '#domain/rules.ts';
import type { Actor } from '#domain/transaction.ts';
import type { Vault, VaultKey } from '#domain/vault.ts';
import { cosignersOf } from '#jobs/cosigner-client.ts';
import { generateKey } from '#jobs/generate-key.ts';
import { thresholdSign } from '#jobs/threshold-sign.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { newTransaction } from '#objects/new-transaction.ts';

/** One signature per request, each of a new transfer: what happens between the last approval and the signed bytes, no chain asked. */

interface Scene {
  readonly vault: Vault;
  readonly key: VaultKey;
  readonly adapter: ChainAdapter;
  readonly address: string;
  readonly signers: readonly Actor[];
}

let scene: Promise<Scene> | null = null;
let nonce = 0n;

export default {
  async fetch(_request: Request, env: CoordinatorEnv): Promise<Response> {
    scene ??= setUp(env);
    const { vault, key, adapter, address, signers } = await scene;
    const nowMs = Date.now();
    const actor = present(signers[0]);
    const request = {
      chain: adapter.chain.name,
      action: { kind: 'transfer', to: address, tokenAddress: null, amount: present(parseAmount('1000')) } as const,
      note: null,
      externalId: null,
      acceptLookalikeOf: null,
      idempotency: null,
    };
    const transaction = newTransaction(request, {
      vault,
      chain: adapter.chain,
      from: address,
      lookalikeOf: null,
      actor,
      nowMs,
    });
    const quote = {
      gasLimit: '21000',
      maxFeePerGas: '2000000000',
      maxPriorityFeePerGas: '1000000000',
      maxFee: present(parseAmount('42000000000000')),
    };
    const { intent } = transaction;
    if (intent.kind === 'message') throw new Error('a transfer is no message');
    const attempt = unsignedAttempt({ purpose: 'intent', ...adapter.compose(intent, quote, nonce++) }, 1, nowMs);
    const outcome = await thresholdSign(cosignersOf(env), {
      key,
      signingThreshold: 2,
      intent,
      attempt,
      approvals: signers.map((signer) => ({ actor: signer, digest: transaction.digest, atMs: nowMs })),
      policies: [{ policy: vault.policy, mandate: null }],
    });
    if (!outcome.ok) return new Response(outcome.reason, { status: 500 });
    const signed = adapter.assemble(intent, attempt, outcome.signature);
    return signed.ok ? new Response(signed.value.hash) : new Response(signed.refusal.detail, { status: 500 });
  },
} satisfies ExportedHandler<CoordinatorEnv>;

async function setUp(env: CoordinatorEnv): Promise<Scene> {
  const adapter = adapterFor(present(findChain(chainsFrom({}), 'anvil')), []);
  const id = present(parseVaultId(900_000));
  const tokenId = present(parseTokenId('0123456789abcdef'));
  const signers = [1, 2].map(() => ({ userId: newUserId(Date.now(), randomBytes(10)), tokenId, address: null }));
  const policy = {
    vaultId: id,
    version: 1,
    signers: signers.map(({ userId }) => userId).toSorted(),
    threshold: 2,
    rules: NO_RULES,
    previousHash: NO_PREVIOUS_POLICY,
  };
  const generated = await generateKey(cosignersOf(env), {
    scheme: 'ecdsa-secp256k1',
    threshold: 2,
    policies: [policy],
  });
  if (!generated.ok) throw new Error(generated.refusal.reason);
  const address = adapter.addressOf(hexToBytes(generated.value.publicKey));
  const key: VaultKey = { ...generated.value, addresses: { anvil: address } };
  const configuration = {
    name: 'bench',
    initialState: 'SUBMITTED',
    decisionPeriodSeconds: 3600,
    mostPending: 100,
    chains: ['anvil'],
    signingThreshold: 2,
  } as const;
  return { vault: { id, configuration, members: [], policy, keys: [key] }, key, adapter, address, signers };
}

function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('the bench has a value that does not parse');
  return value;
}
