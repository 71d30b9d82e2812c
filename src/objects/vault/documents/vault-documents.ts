import * as z from 'zod';
import type { DisabledAccess } from '#domain/access/disabled-access.ts';
import type { Invitation } from '#domain/access/invitation.ts';
import type { Member } from '#domain/access/member.ts';
import { ROLES } from '#domain/access/member.ts';
import { BITCOIN_ADDRESS_TYPES, KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { KeyCandidate, KeyRefresh, Vault, VaultConfiguration, VaultKey } from '#domain/vault/vault.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { actor, digest, keyId, timeMs, tokenId, userId, vaultId } from '#objects/vault/documents/fields.ts';
import { policy } from '#objects/vault/documents/policy-documents.ts';
import { documentCodec, exactly, remembering } from '#store/document.ts';

const texts = z.record(z.string(), z.string());

const generatedKey = { keyId, scheme: z.enum(KEY_SCHEMES), publicKey: z.string(), publicShares: texts };

const configuration = exactly<VaultConfiguration>()({
  name: z.string(),
  initialState: z.enum(['DRAFT', 'SUBMITTED']),
  decisionPeriodSeconds: z.int(),
  mostPending: z.int(),
  chains: z.array(z.string()),
  bitcoinAddressType: z.enum(BITCOIN_ADDRESS_TYPES).exactOptional(),
});

/** Version 2 has the invitations and the disabled access. */
const VAULT_VERSION = 2;

export const vaultCodec = documentCodec<Vault>(
  'vault',
  exactly<Vault>()({
    id: vaultId,
    reference: z.string(),
    foundedAtMs: timeMs,
    configuration,
    members: z.array(exactly<Member>()({ userId, roles: z.array(z.enum(ROLES)) })),
    invitations: z.array(exactly<Invitation>()({ userId, isDeclined: z.boolean() })),
    disabledAccess: z.array(
      exactly<DisabledAccess>()({
        userId,
        tokenId: tokenId.nullable(),
        disabledBy: userId.nullable(),
        disabledAtMs: timeMs,
        untilMs: timeMs.nullable(),
      }),
    ),
    accessVersions: z.record(z.string(), z.int()),
    policy,
    keys: z.array(exactly<VaultKey>()({ ...generatedKey, addresses: texts })),
    expiredAdoptions: z.array(exactly<ExpiredAdoption>()({ cosigner: z.int(), version: z.int() })),
    adoptedVersions: z.record(z.string(), z.int()),
  }),
  VAULT_VERSION,
);

export const keyCandidateCodec = documentCodec<KeyCandidate>(
  'key candidate',
  exactly<KeyCandidate>()({ ...generatedKey, provenBy: z.array(z.string()) }),
);

export const keyRefreshCodec = documentCodec<KeyRefresh>(
  'key refresh',
  exactly<KeyRefresh>()({
    keyId,
    scheme: z.enum(KEY_SCHEMES),
    requestId: z.string(),
    begun: z.object({ epoch: z.int(), setups: z.array(z.string()) }).nullable(),
    provenBy: z.array(z.string()),
    activating: z.int().exactOptional(),
    brought: z.record(z.string(), z.int()).exactOptional(),
  }),
);

export const historyCodec = remembering(
  documentCodec<HistoryEntry>(
    'history entry',
    exactly<HistoryEntry>()({
      seq: z.int(),
      transactionId: z.string().nullable(),
      version: z.int(),
      action: z.string(),
      actor: actor.nullable(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      reason: z.string().nullable(),
      digest: z.string().nullable(),
      detail: z.string().nullable(),
      atMs: timeMs,
      previousHash: digest,
    }),
  ),
);
