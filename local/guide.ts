import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Person, ReadyVault } from './stack/provision.ts';

/** The output of `npm start` when the stack is ready. */

const README = resolve(import.meta.dirname, '..', 'README.md');
const FIRST_TRANSFER = /^## A first transfer\n.*?^```sh\n(.*?)^```$/msu;

/** Returns the commands of the README's first transfer. Throws when the README has none. */
export function firstTransfer(): string {
  const commands = FIRST_TRANSFER.exec(readFileSync(README, 'utf8'))?.[1];
  if (commands === undefined) throw new Error('README.md has no commands under "A first transfer"');
  return commands;
}

export interface GuidedVault {
  readonly url: string;
  readonly serviceKey: string;
  readonly people: readonly Person[];
  readonly vault: ReadyVault;
  /** An address on anvil outside of the vault. */
  readonly recipient: string;
}

/** Returns the shell variables that the README and the documents use, by name. */
export function shellVariables({
  url,
  serviceKey,
  people,
  vault,
  recipient,
}: GuidedVault): ReadonlyMap<string, string> {
  return new Map([
    ['CONCLAVE_URL', url],
    ['CONCLAVE_SERVICE_KEY', serviceKey],
    ...people.map(({ name, token }) => [name.toUpperCase(), token] as const),
    ['VAULT', String(vault.id)],
    ['RECIPIENT', recipient],
  ]);
}

export interface GuidedStack extends GuidedVault {
  readonly approvalUrl: string;
  /** The fingerprint of the identity keys of the co-signers. */
  readonly fingerprint: string;
  /** The addresses by the name of the chain. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  readonly logFile: string;
}

export function guide(stack: GuidedStack): string {
  const { url, people, vault } = stack;
  const chains = Object.entries(stack.rpcUrls).map(([chain, rpcUrl]) => `  ${chain.padEnd(16)} ${rpcUrl}`);
  const wallets = Object.entries(vault.addresses).map(([chain, address]) => `  ${chain.padEnd(16)} ${address}`);
  const variables = [...shellVariables(stack)].map(([name, value]) => `export ${name}=${value}`);
  return `
Dashboard      ${url}/   log in as ${people.map(({ name }) => name).join(', ')}, with any password
Approval page  ${stack.approvalUrl}   passkeys; fingerprint of the co-signers: ${stack.fingerprint}
Log            ${stack.logFile}
RPC nodes
${chains.join('\n')}
Vault ${vault.id}: alice, bob and carol are signers, 2 of 3 approvals are required. mallory is not a member. Wallets:
${wallets.join('\n')}

Paste these lines into another terminal, then the commands of the first transfer:

${variables.join('\n')}

${firstTransfer()}
Balances and events of the vault (the session of alice is valid for one day):

curl -s $CONCLAVE_URL/vault/$VAULT/balances -H "authorization: Bearer $ALICE"
curl -sN $CONCLAVE_URL/vault/$VAULT/events -H 'cookie: ${people[0]?.cookie ?? ''}'

Press Ctrl-C to stop. npm start continues with the same vault. npm start -- --fresh deletes it and starts again.`;
}
