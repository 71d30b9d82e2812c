import { isSecureOrigin } from '#devices/device-key.ts';
import type { Device } from '#domain/access/device.ts';

/**
 * Ours: a second page keeps the passkeys when the host name of the first is lost. Each further page
 * is one more host that people have to trust.
 */
const MAX_PAGES = 2;

/**
 * Returns the origins of the approval pages from the APPROVAL_ORIGIN setting, the preferred one
 * first, or an empty list when it is empty. Throws for any other text, without the setting's
 * content, and for two pages on one host: passkeys do not distinguish ports.
 */
export function approvalOrigins({
  APPROVAL_ORIGIN: setting = '',
}: {
  readonly APPROVAL_ORIGIN?: string;
}): readonly string[] {
  const origins = setting.split(/\s+/).filter((text) => text !== '');
  const urls = origins.map((text) => URL.parse(text));
  const isEachSecure = urls.every((url, i) => url !== null && url.origin === origins[i] && isSecureOrigin(url));
  if (!isEachSecure || origins.length > MAX_PAGES)
    throw new Error('APPROVAL_ORIGIN must be an origin, such as https://approve.example.com, or two of them.');
  if (new Set(urls.map((url) => url?.hostname)).size < origins.length)
    throw new Error('APPROVAL_ORIGIN must name two different hosts, because a passkey is bound to a host.');
  return origins;
}

/**
 * Reports whether a passkey belongs to another page than the approval pages: that page can show one
 * thing and sign another.
 */
export function isOfOtherOrigin(
  device: { readonly algorithm: Device['algorithm']; readonly origin?: string | null },
  origins: readonly string[],
): boolean {
  return origins.length > 0 && device.algorithm === 'webauthn-p256' && !origins.includes(device.origin ?? '');
}

/** Returns one warning for a signer who has passkeys of another origin, else none. */
export function passkeyWarnings(
  own: readonly Parameters<typeof isOfOtherOrigin>[0][],
  origins: readonly string[],
): readonly { readonly code: string; readonly detail: string }[] {
  if (!own.some((device) => isOfOtherOrigin(device, origins))) return [];
  const detail = 'You have a passkey of another origin than the approval page. Replace it with a policy change.';
  return [{ code: 'passkey-of-other-origin', detail }];
}
