import type { CosignerAction, KeyAction, ObjectRef, SessionAction, VaultAction } from '#cosigner/api/object-ref.ts';
import { keyOf, KEY_ACTIONS, SESSION_ACTIONS, vaultIdOf } from '#cosigner/api/object-ref.ts';
import type { CosignerParts } from '#cosigner/api/parts.ts';
import { prepareSession } from '#cosigner/api/session-plans.ts';
import { adopt, attest, type AdoptionContext } from '#cosigner/policy/adoption.ts';
import { attestationKeysOf } from '#cosigner/policy/attestation.ts';
import { witnessedRecordOf } from '#cosigner/policy/signed-record.ts';
import type { Refused } from '#cosigner/refusal.ts';
import {
  byPartyOf,
  bytesOf,
  envelopeOf,
  fieldsOf,
  hexOf,
  policyNameOf,
  textOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import type { VaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { PartyIndex } from '#mpc/party.ts';

const SIGNATURE_BYTES = 64;

/** Parses signatures of co-signers: co-signer number to signature. */
function signaturesOf(value: unknown): ReadonlyMap<PartyIndex, Uint8Array> {
  return byPartyOf(value, (one) => bytesOf(one, SIGNATURE_BYTES));
}

/**
 * Parses one request of the coordinator and does it. Throws `Malformed` for a request of another
 * shape, else refuses what the action refuses.
 */
export async function act(
  parts: CosignerParts,
  { ref, action, body }: { readonly ref: ObjectRef; readonly action: CosignerAction; readonly body: unknown },
): Promise<Result<unknown, Refused>> {
  parts.sessions.endOld(Date.now());
  if (isOneOf(SESSION_ACTIONS, action)) return actInSession(parts, ref, { action, body });
  if (isOneOf(KEY_ACTIONS, action)) return actOnKey(parts, keyOf(ref), { action, body });
  return actOnVault(parts, vaultIdOf(ref), { action, body });
}

async function actInSession(
  parts: CosignerParts,
  ref: ObjectRef,
  { action, body }: { readonly action: SessionAction; readonly body: unknown },
): Promise<Result<unknown, Refused>> {
  const { sessions } = parts;
  switch (action) {
    case 'open': {
      const { protocol, request } = fieldsOf(body, ['protocol', 'request']);
      const isAhead = request === null && ref.kind === 'key';
      return sessions.open(hexOf(protocol, 32), isAhead ? null : () => prepareSession(parts, ref, request));
    }
    case 'start': {
      const fields = fieldsOf(body, ['nonces', 'openings', 'receipts'], ['request']);
      const { request } = fields;
      return sessions.start({
        nonces: byPartyOf(fields['nonces'], (nonce) => hexOf(nonce, 32)),
        openings: byPartyOf(fields['openings'], envelopeOf),
        receipts: signaturesOf(fields['receipts']),
        ...(request === undefined ? {} : { prepare: () => prepareSession(parts, ref, request) }),
      });
    }
    case 'round': {
      const fields = fieldsOf(body, ['sid', 'round', 'envelopes']);
      return sessions.round({
        sid: bytesOf(fields['sid'], 32),
        round: wholeNumberOf(fields['round']),
        envelopes: byPartyOf(fields['envelopes'], envelopeOf),
      });
    }
  }
}

async function actOnVault(
  parts: CosignerParts,
  vaultId: VaultId,
  { action, body }: { readonly action: VaultAction; readonly body: unknown },
): Promise<Result<unknown, Refused>> {
  const context = adoptionOf(parts, vaultId);
  switch (action) {
    case 'attest': {
      const { version, hash, policies } = fieldsOf(body, ['version', 'hash', 'policies']);
      return attest(context, policyNameOf({ vaultId, version, hash }), policies);
    }
    case 'policy': {
      const { policies, chosen, adopted } = fieldsOf(body, ['policies', 'chosen', 'adopted']);
      const attestations = { chosen: signaturesOf(chosen), adopted: signaturesOf(adopted) };
      return adopt(context, policies, attestations);
    }
  }
}

async function actOnKey(
  { key }: CosignerParts,
  keyId: string,
  { action, body }: { readonly action: KeyAction; readonly body: unknown },
): Promise<Result<unknown, Refused>> {
  switch (action) {
    case 'receipt': {
      const { request } = fieldsOf(body, ['request']);
      return key.receipt(keyId, signingRequestOf(request));
    }
    case 'signed': {
      const { transactionId } = fieldsOf(body, ['transactionId']);
      return key.signedFor(keyId, textOf(transactionId, 64));
    }
    case 'witness':
      return key.importRecord(keyId, witnessedRecordOf(body));
    case 'recovery': {
      fieldsOf(body, []);
      return key.recoveryPackage(keyId);
    }
    case 'exports': {
      const { nonce } = fieldsOf(body, ['nonce']);
      return key.exports(keyId, hexOf(nonce, 32));
    }
    case 'shares': {
      fieldsOf(body, []);
      return accepted(await key.held(keyId));
    }
    case 'activate': {
      const { epoch, receipts } = fieldsOf(body, ['epoch', 'receipts']);
      const order = { epoch: wholeNumberOf(epoch), receipts: signaturesOf(receipts) };
      return key.activate(keyId, order);
    }
    case 'statement':
      return key.state(keyId, body);
  }
}

function adoptionOf({ membership, vault }: CosignerParts, vaultId: VaultId): AdoptionContext {
  return { membership, keys: attestationKeysOf(membership), vaultId, vault, now: Date.now };
}

function isOneOf<A extends CosignerAction>(actions: readonly A[], action: CosignerAction): action is A {
  return actions.some((one) => one === action);
}
