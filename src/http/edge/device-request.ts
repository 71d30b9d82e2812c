import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { DeviceRequest, DeviceSignature } from '#domain/access/device.ts';
import { DEVICE_REQUEST_MS, deviceRequestBytes } from '#domain/access/device.ts';
import { NO_TOKEN, parseDeviceKeyId, parseVaultIdText } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { personStub } from '#objects/person/stub.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { findUser } from '#store/users.ts';

/** `Device VAULT.KEY.TIME.SIGNATURE` with the time in Unix milliseconds. */
const HEADER = /^device +([0-9]{1,16})\.(dev_[0-9a-f]{32})\.([0-9]{13})\.([A-Za-z0-9_-]{86})$/i;

/** Reports whether a device, and not a token, authenticates a request. */
export function isOfDevice(header: string): boolean {
  return /^device /i.test(header);
}

/**
 * Authenticates a request by the Ed25519 signature of a device in the policy in force. A signer
 * whose tokens are gone can so read and decide what waits in this vault. Returns a problem, or
 * null.
 *
 * Refuses, in order: `quota-exceeded`, `device-signature-refused`, `user-disabled`.
 */
export async function byDevice(context: HttpContext, header: string): Promise<Response | null> {
  // The signature is verified in the object of the vault, so each attempt counts.
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  const read = readHeader(context, header);
  if (read === null) return refusalProblem(context, refusalOf('malformed'));
  const { request, signature } = read;
  if (Math.abs(Date.now() - request.atMs) > DEVICE_REQUEST_MS) return refusalProblem(context, refusalOf('expired'));
  const { vaultId } = request;
  const digest = bytesToHex(sha256(deviceRequestBytes(request)));
  const verified = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.work({ type: 'verifyDeviceRequest', digest, signature }),
  );
  if (!verified.ok) return refusalProblem(context, verified.refusal);
  const userId = verified.value;
  const [user, isDisabled] = await Promise.all([
    findUser(context.env.DB, userId),
    callObject(
      () => personStub(context.env, userId),
      (person) => person.isDisabled(),
    ),
  ]);
  if (user === null) return refusalProblem(context, refusalOf('unknown-device'));
  if (isDisabled) return refusalProblem(context, { code: 'user-disabled' });
  const grant = { scopes: ['read', 'approve'], vaultIds: [vaultId], networks: null } as const;
  const token = { ...grant, expiresAt: null, isSuperseded: false };
  context.set('caller', { user, tokenId: NO_TOKEN, token, sessionHash: null });
  return null;
}

function refusalOf(fault: string): Refusal {
  return { code: 'device-signature-refused', fault };
}

function readHeader(
  context: HttpContext,
  header: string,
): { readonly request: DeviceRequest; readonly signature: DeviceSignature } | null {
  const [, vaultText = '', keyText = '', timeText = '', signature = ''] = HEADER.exec(header) ?? [];
  const [vaultId, keyId] = [parseVaultIdText(vaultText), parseDeviceKeyId(keyText)];
  if (vaultId === null || keyId === null) return null;
  const { pathname, search } = new URL(context.req.url);
  const { method } = context.req;
  const request = { vaultId, keyId, method, target: `${pathname}${search}`, atMs: Number.parseInt(timeText, 10) };
  return { request, signature: { keyId, signature, assertion: null } };
}
