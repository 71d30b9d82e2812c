import { isSecureAddress } from '#domain/secure-address.ts';

/**
 * Returns the HEARTBEAT_URL setting, or null when it is empty. Throws for any other form, without
 * the setting's content: the URL is the password of the check.
 */
export function heartbeatUrl(setting: string | undefined): string | null {
  if (setting === undefined || setting.trim() === '') return null;
  if (URL.canParse(setting) && isSecureAddress(setting)) return setting;
  throw new Error('HEARTBEAT_URL must be one https URL, or http of this machine.');
}
