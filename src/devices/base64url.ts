/** Text of RFC 4648 part 5 without padding, at most 8192 characters. Any other text gives null. */
const BASE64URL = /^[A-Za-z0-9_-]{1,8192}$/;

export function bytesOfText(text: string | undefined): Uint8Array | null {
  return text !== undefined && BASE64URL.test(text) ? new Uint8Array(Buffer.from(text, 'base64url')) : null;
}
