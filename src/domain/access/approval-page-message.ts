import type { KeyScheme } from '#domain/asset/chain.ts';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Passkey } from '#domain/access/device.ts';
import { CREDENTIAL_ID, MAX_DEVICES } from '#domain/access/device.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/**
 * The protocol between the dashboard and the approval page, by `postMessage` or in the fragment of
 * an address. The page accepts only messages of exactly these forms: an unknown field could carry
 * something that the page does not show.
 */
export const APPROVAL_PROTOCOL = 1;

/**
 * The page is ready. The statements of the co-signers must name its nonce (lower-case hex of 32
 * bytes).
 */
export interface PageReady {
  readonly type: 'conclave/approval/hello';
  readonly version: 1;
  readonly nonce: string;
}

/**
 * The statement of one co-signer, as the coordinator relays it. The verifier of its signature
 * judges the statement itself.
 */
export interface RelayedStatement {
  readonly cosigner: number;
  readonly keyId: string;
  /** Null when the coordinator reports that the co-signer gave none. */
  readonly statement: unknown;
}

/**
 * A key of the vault. Its id and the addresses of its wallets follow from the public key, so the
 * page derives both and believes neither.
 */
interface StatementKey {
  readonly keyId: string;
  readonly scheme: KeyScheme;
  /** Lower-case hex, as the scheme encodes it. */
  readonly publicKey: string;
}

/** A text of the server that nothing proves. The page shows it apart. */
export interface UnverifiedNote {
  readonly label: string;
  readonly text: string;
}

export interface ApprovalRequest {
  readonly type: 'conclave/approval/request';
  readonly version: 1;
  readonly requestId: string;
  /** The user whose passkeys the browser offers. */
  readonly userId: string;
  /** Hex of the canonical bytes of the intent, of a mandate, or of the rejection of a mandate. */
  readonly canonical: string;
  /** Hex of the canonical bytes of the policy in force. */
  readonly policy: string;
  /**
   * Hex of the canonical bytes of the policy that a mandate puts in force; null for an intent. With
   * a rejection the page shows the change when this and `mandate` match.
   */
  readonly proposed: string | null;
  /** Hex of the canonical bytes of the mandate that is rejected; null for an approval. */
  readonly mandate: string | null;
  /**
   * The keys whose co-signers make the statements: the key of the wallet, or all keys of the vault.
   * A rejection has no statements.
   */
  readonly keys: readonly StatementKey[];
  readonly statements: readonly RelayedStatement[];
  /**
   * Identity keys of the co-signers, for a policy that pins none. The signer confirms their
   * fingerprint.
   */
  readonly cosigners: readonly CosignerPin[];
  readonly remarks: readonly UnverifiedNote[];
}

/** Requests a new passkey of the page. */
export interface EnrolmentRequest {
  readonly type: 'conclave/approval/enrolment';
  readonly version: 1;
  readonly requestId: string;
  readonly userId: string;
  readonly userName: string;
  /** The passkeys of the user in the policy in force: no authenticator gets a second one. */
  readonly credentialIds: readonly string[];
}

/**
 * Requests to read the policy in force, as co-signers with confirmed keys state it. Nothing is
 * signed and there is no answer.
 */
export interface PolicyViewRequest {
  readonly type: 'conclave/approval/policy-view';
  readonly version: 1;
  readonly requestId: string;
  /** Hex of the canonical bytes of the policy in force. */
  readonly policy: string;
  /** All keys of the vault. */
  readonly keys: readonly StatementKey[];
  readonly statements: readonly RelayedStatement[];
  /** Identity keys of the co-signers, for a policy that pins none. */
  readonly cosigners: readonly CosignerPin[];
}

/** A request of the dashboard to the approval page. */
export type DashboardRequest = ApprovalRequest | EnrolmentRequest | PolicyViewRequest;

/** The signature of a passkey, in the form that the API accepts. */
export interface PasskeySignature {
  readonly signature: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
}

export interface ApprovalAnswer extends PasskeySignature {
  readonly type: 'conclave/approval/answer';
  readonly version: 1;
  readonly requestId: string;
  readonly keyId: string;
}

/** A new passkey in the form that a policy change names it, with its proof. */
export interface EnrolmentAnswer {
  readonly type: 'conclave/approval/enrolled';
  readonly version: 1;
  readonly requestId: string;
  readonly device: Omit<Passkey, 'keyId'> & { readonly proof: PasskeySignature };
}

/** The signer returned to the dashboard without a signature. */
export interface ApprovalDecline {
  readonly type: 'conclave/approval/declined';
  readonly version: 1;
  readonly requestId: string;
}

/**
 * Longer text is not a request of a dashboard: 100 devices and 200 rules of each list take less
 * than half of it.
 */
const MAX_HEX = 1_000_000;
const MAX_TEXT = 400;
/** Remarks are texts of the server beside the facts: a few short ones. */
const MAX_REMARKS = 5;
const MAX_REMARK_LENGTH = 80;
const MAX_COSIGNERS = 5;
/** A vault has at most one key of each scheme. */
const MAX_KEYS = 4;
const MAX_STATEMENTS = MAX_KEYS * MAX_COSIGNERS;

/** Returns the request in a message, or null for any message that is not exactly a request. */
export function parseApprovalRequest(message: unknown): DashboardRequest | null {
  if (!isJsonObject(message) || message['version'] !== APPROVAL_PROTOCOL) return null;
  if (message['type'] === 'conclave/approval/policy-view') return isPolicyView(message) ? message : null;
  if (message['type'] === 'conclave/approval/enrolment') return isEnrolment(message) ? message : null;
  return isRequest(message) ? message : null;
}

/** Returns the message by which the page names its nonce. */
export function pageReadyMessage(nonce: string): PageReady {
  return { type: 'conclave/approval/hello', version: APPROVAL_PROTOCOL, nonce };
}

/** Returns the nonce of a page that is ready, or null for any other message. */
export function nonceOfPageReady(message: unknown): string | null {
  if (!isJsonObject(message) || !hasExactly(message, ['type', 'version', 'nonce'])) return null;
  const { type, version, nonce } = message;
  const isHello = type === 'conclave/approval/hello' && version === APPROVAL_PROTOCOL;
  return isHello && typeof nonce === 'string' && NONCE.test(nonce) ? nonce : null;
}

/**
 * Returns the answer to this request, or null for any other message. The API judges the signature
 * in it.
 */
export function parseApprovalAnswer(message: unknown, requestId: string): ApprovalAnswer | EnrolmentAnswer | null {
  if (!isJsonObject(message) || message['version'] !== APPROVAL_PROTOCOL || message['requestId'] !== requestId)
    return null;
  const isAnswer = message['type'] === 'conclave/approval/answer' && hasExactly(message, ANSWER_FIELDS);
  if (isAnswer && ANSWER_FIELDS.every((name) => name === 'version' || typeof message[name] === 'string')) {
    return message as unknown as ApprovalAnswer;
  }
  const isEnrolled = message['type'] === 'conclave/approval/enrolled' && isJsonObject(message['device']);
  return isEnrolled ? (message as unknown as EnrolmentAnswer) : null;
}

/** Reports whether a message declines this request, so that there is no signature. */
export function isDecline(message: unknown, requestId: string): boolean {
  if (!isJsonObject(message) || !hasExactly(message, ['type', 'version', 'requestId'])) return false;
  const { type, version } = message;
  return type === 'conclave/approval/declined' && version === APPROVAL_PROTOCOL && message['requestId'] === requestId;
}

const NONCE = /^[0-9a-f]{64}$/;
const HEX = /^(?:[0-9a-f]{2})+$/;
/** 33 bytes, or 32 for Ed25519. */
const PUBLIC_KEY = /^(?:[0-9a-f]{64}|[0-9a-f]{66})$/;
const ANSWER_FIELDS = [
  'type',
  'version',
  'requestId',
  'keyId',
  'signature',
  'authenticatorData',
  'clientDataJSON',
] as const;
const REQUEST_FIELDS = [
  'type',
  'version',
  'requestId',
  'userId',
  'canonical',
  'policy',
  'proposed',
  'mandate',
  'keys',
  'statements',
  'cosigners',
  'remarks',
] as const;
const POLICY_VIEW_FIELDS = ['type', 'version', 'requestId', 'policy', 'keys', 'statements', 'cosigners'] as const;
type Fields = Readonly<Record<string, unknown>>;

function isRequest(message: unknown): message is ApprovalRequest {
  if (!isJsonObject(message) || !hasExactly(message, REQUEST_FIELDS)) return false;
  const { type, requestId, userId, canonical, policy, proposed, mandate } = message;
  const { keys, statements, cosigners, remarks } = message;
  return (
    type === 'conclave/approval/request' &&
    [requestId, userId].every(isText) &&
    isListOf(keys, MAX_KEYS, isKey) &&
    [canonical, policy].every(isHex) &&
    [proposed, mandate].every((bytes) => bytes === null || isHex(bytes)) &&
    isListOf(statements, MAX_STATEMENTS, isShownStatement) &&
    isListOf(cosigners, MAX_COSIGNERS, isPin) &&
    isListOf(remarks, MAX_REMARKS, isRemark)
  );
}

function isEnrolment(message: unknown): message is EnrolmentRequest {
  if (!isJsonObject(message)) return false;
  const texts = ['requestId', 'userId', 'userName'];
  const hasFields = hasExactly(message, ['type', 'version', 'credentialIds', ...texts]);
  return (
    hasFields &&
    texts.every((name) => isText(message[name])) &&
    isListOf(message['credentialIds'], MAX_DEVICES, isCredentialId)
  );
}

function isPolicyView(message: unknown): message is PolicyViewRequest {
  if (!isJsonObject(message) || !hasExactly(message, POLICY_VIEW_FIELDS)) return false;
  const { requestId, policy, keys, statements, cosigners } = message;
  return (
    isText(requestId) &&
    isHex(policy) &&
    isListOf(keys, MAX_KEYS, isKey) &&
    isListOf(statements, MAX_STATEMENTS, isShownStatement) &&
    isListOf(cosigners, MAX_COSIGNERS, isPin)
  );
}

function isShownStatement(shown: unknown): boolean {
  if (!isJsonObject(shown) || !hasExactly(shown, ['cosigner', 'keyId', 'statement'])) return false;
  return isCount(shown['cosigner']) && isText(shown['keyId']);
}

function isKey(key: unknown): boolean {
  if (!isJsonObject(key) || !hasExactly(key, ['keyId', 'scheme', 'publicKey'])) return false;
  const { keyId, scheme, publicKey } = key;
  const isScheme = KEY_SCHEMES.some((one) => one === scheme);
  return isText(keyId) && isScheme && typeof publicKey === 'string' && PUBLIC_KEY.test(publicKey);
}

function isPin(pin: unknown): boolean {
  return isJsonObject(pin) && hasExactly(pin, ['index', 'signing']) && isCount(pin['index']) && isText(pin['signing']);
}

function isRemark(remark: unknown): boolean {
  const isShort = (text: unknown) => isText(text) && text.length <= MAX_REMARK_LENGTH;
  return (
    isJsonObject(remark) && hasExactly(remark, ['label', 'text']) && isShort(remark['label']) && isShort(remark['text'])
  );
}

function hasExactly(value: Fields, names: readonly string[]): boolean {
  const keys = Object.keys(value);
  return keys.length === names.length && names.every((name) => keys.includes(name));
}

function isListOf(value: unknown, max: number, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= max && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

function isCredentialId(value: unknown): boolean {
  return typeof value === 'string' && CREDENTIAL_ID.test(value);
}

function isHex(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_HEX && HEX.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= 0;
}
