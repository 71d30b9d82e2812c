/** The coordinator's objects, for the tests that run inside its own runtime. */
export { AccessTokenObject } from '#objects/access-token.ts';
export { VaultObject } from '#objects/vault.ts';
export { WalletNonceObject } from '#objects/wallet-nonce.ts';

export default {
  fetch(): Response {
    return new Response(null, { status: 404 });
  },
  queue(): void {},
} satisfies ExportedHandler;
