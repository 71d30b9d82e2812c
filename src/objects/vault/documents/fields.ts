import * as z from 'zod';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import { CREDENTIAL_ID } from '#domain/access/device.ts';
import type { Asset, BalanceChange, ChainMovement } from '#domain/asset/movement.ts';
import { ASSET_KINDS, MOVEMENT_KINDS } from '#domain/asset/movement.ts';
import { parseAmount, parseSignedAmount } from '#domain/asset/amount.ts';
import type { TokenLabel, UsdValue } from '#domain/asset/valuation.ts';
import type { VaultId } from '#domain/id.ts';
import {
  parseDeviceKeyId,
  parseKeyId,
  parsePolicyChangeId,
  parseTokenId,
  parseTransactionId,
  parseUserId,
  parseVaultId,
} from '#domain/id.ts';
import type { Actor, Approval, Rejection } from '#domain/access/approval.ts';
import { DISPLAY_TYPES } from '#domain/transaction/transaction.ts';
import { exactly, parsed } from '#store/document.ts';

/** The fields that several documents of a vault have. */

export const amount = parsed((text) => parseAmount(text));
export const signedAmount = parsed(parseSignedAmount);
export const transactionId = parsed(parseTransactionId);
export const policyChangeId = parsed(parsePolicyChangeId);
export const userId = parsed(parseUserId);
export const tokenId = parsed(parseTokenId);
export const keyId = parsed(parseKeyId);
export const vaultId = z.custom<VaultId>((value) => typeof value === 'number' && parseVaultId(value) === value);
/** Lower-case hex SHA-256. */
export const digest = z.string().regex(/^[0-9a-f]{64}$/);
export const timeMs = z.int();
export const displayType = z.enum(DISPLAY_TYPES);

export const actor = exactly<Actor>()({
  userId,
  tokenId,
  address: z.string().nullable(),
});

const deviceKeyId = parsed(parseDeviceKeyId);

const deviceSignature = exactly<DeviceSignature>()({
  keyId: deviceKeyId,
  signature: z.string(),
  assertion: z.object({ authenticatorData: z.string(), clientDataJson: z.string() }).nullable(),
});

const approvalFields = { actor, digest, device: deviceSignature.nullable(), atMs: timeMs };

export const approval = exactly<Approval>()(approvalFields);

export const rejection = exactly<Rejection>()({ ...approvalFields, reason: z.string().exactOptional() });

/** The points of the keys were checked before the policy was stored. */
export const device: z.ZodType<Device> = z.discriminatedUnion('algorithm', [
  z.object({ algorithm: z.literal('ed25519'), keyId: deviceKeyId, userId, publicKey: z.string() }),
  z.object({
    algorithm: z.literal('webauthn-p256'),
    keyId: deviceKeyId,
    userId,
    publicKey: z.string(),
    credentialId: z.string().regex(CREDENTIAL_ID),
    rpId: z.string(),
    origin: z.string(),
  }),
]);

export const assetFields = {
  kind: z.enum(ASSET_KINDS),
  tokenAddress: z.string().nullable(),
  tokenId: z.string().nullable(),
} satisfies Readonly<Record<keyof Asset, z.ZodType>>;

const movement = exactly<ChainMovement>()({
  uid: z.string(),
  kind: z.enum(MOVEMENT_KINDS),
  from: z.string().nullable(),
  to: z.string().nullable(),
  tokenAddress: z.string().nullable(),
  tokenId: z.string().nullable(),
  amount,
});

const change = exactly<BalanceChange>()({
  ...assetFields,
  units: signedAmount,
  isMinted: z.boolean(),
  isBurned: z.literal(true).exactOptional(),
  isCash: z.boolean(),
});

export const walletMovements = {
  movements: z.array(movement),
  movementCount: z.int(),
  changes: z.array(change),
};

export const usdValue = exactly<UsdValue>()({ usd: z.string(), pricedAtMs: timeMs });

export const tokenLabel = exactly<TokenLabel>()({
  address: z.string(),
  symbol: z.string().nullable(),
  decimals: z.number().nullable(),
});
