import type { Page } from 'playwright-core';

/** A passkey as the virtual authenticator of Chromium exports it. */
export interface VirtualCredential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly privateKey: string;
  readonly signCount: number;
  readonly rpId?: string;
}

/**
 * Gives a page a virtual authenticator that confirms every prompt. Each window has its own
 * authenticator, so the passkeys are copied between windows.
 */
export async function withAuthenticator(page: Page, passkeys: readonly VirtualCredential[] = []) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', {});
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  for (const one of passkeys) {
    // Chromium exports a passkey that it imported before without its domain.
    const credential = { ...one, rpId: one.rpId === undefined || one.rpId === '' ? 'localhost' : one.rpId };
    await session.send('WebAuthn.addCredential', { authenticatorId, credential });
  }
  /** Returns the current passkeys of the authenticator. */
  return async (): Promise<readonly VirtualCredential[]> =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
}
