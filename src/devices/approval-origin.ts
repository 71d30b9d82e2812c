import type { Device } from '#domain/access/device.ts';

/**
 * Returns the origin of the approval page from the APPROVAL_ORIGIN setting, or null when it is
 * empty. Throws for any other text, without the setting's content.
 */
export function approvalOrigin({
  APPROVAL_ORIGIN: setting = '',
}: {
  readonly APPROVAL_ORIGIN?: string;
}): string | null {
  const text = setting.trim();
  if (text === '') return null;
  const url = URL.parse(text);
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === 'localhost');
  if (url?.origin !== text || !isSecure)
    throw new Error('APPROVAL_ORIGIN must be an origin, such as https://approve.example.com.');
  return text;
}

/**
 * Reports whether a passkey belongs to another page than the approval page: that page can show one
 * thing and sign another.
 */
export function isOfOtherOrigin(
  device: { readonly algorithm: Device['algorithm']; readonly origin?: string | null },
  origin: string | null,
): boolean {
  return origin !== null && device.algorithm === 'webauthn-p256' && device.origin !== origin;
}

/** Returns one warning for a signer who has passkeys of another origin, else none. */
export function passkeyWarnings(
  own: readonly Parameters<typeof isOfOtherOrigin>[0][],
  origin: string | null,
): readonly { readonly code: string; readonly detail: string }[] {
  if (!own.some((device) => isOfOtherOrigin(device, origin))) return [];
  const detail = 'You have a passkey of another origin than the approval page. Replace it with a policy change.';
  return [{ code: 'passkey-of-other-origin', detail }];
}
