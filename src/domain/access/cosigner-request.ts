import { canonicalBytes } from '#domain/canonical/bytes.ts';

/** The signed fields of a coordinator's request to a co-signer that no service binding reaches. */
export interface CosignerRequest {
  /** Number of the co-signer that the request is meant for. */
  readonly cosigner: string;
  /** Such as `v1/key/abc/open`. */
  readonly path: string;
  readonly atMs: string;
  /** Lower-case hex SHA-256 of the body. */
  readonly bodyHash: string;
}

/**
 * The versions of requests and answers that this release speaks, the newest first. The path of a
 * request begins with one (`v1/key/abc/open`). A release that changes a body also speaks the one
 * before, so that operators upgrade one Worker after the other. The digest of a protocol
 * (cosigner/protocol-version.ts) covers what co-signers send to each other.
 *
 * Version 2 has rounds in bytes (round-body.ts).
 */
export const WIRE_VERSIONS: readonly number[] = [2, 1];

/** Returns the path of a request in a version. */
export function versionedPath(version: number, path: string): string {
  return `v${version}/${path}`;
}

/**
 * Names of the headers that carry the time, the hash of the body, and the signature, which is
 * base64url without padding. The hash is a header so that a co-signer can verify the signature
 * before it reads the body.
 */
export const REQUEST_TIME = 'x-conclave-time';
export const REQUEST_BODY_HASH = 'x-conclave-body-sha256';
export const REQUEST_SIGNATURE = 'x-conclave-signature';

/** Returns the bytes that the coordinator signs with Ed25519. */
export function cosignerRequestBytes({
  cosigner: node,
  path,
  atMs,
  bodyHash,
}: CosignerRequest): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/cosigner-request/v1', [
    ['node', node],
    ['path', path],
    ['atMs', atMs],
    ['bodyHash', bodyHash],
  ]);
}
