import { rulesFor } from '#chains/families/rules-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { UsageError } from '../command-line.ts';

/** An address on a chain, in canonical spelling. */
export interface ChainAddress {
  readonly chain: Chain;
  readonly address: string;
}

/** Returns the chains of the built-in table and of the setting CHAINS. Throws for a bad setting. */
export function knownChains(): readonly Chain[] {
  return chainsFrom({ CHAINS: process.env['CHAINS'] ?? '' });
}

/**
 * Parses `CHAIN=ADDRESS`, where the chain is a name or a CAIP-2 name. Throws `UsageError`, with the
 * option, for another form, an unknown chain, and an address that no payment of the service may
 * name, such as one without a key.
 */
export function chainAddresses(option: '--wallet' | '--to', texts: readonly string[]): readonly ChainAddress[] {
  return texts.map((text) => parsed(option, text, (chain, address) => rulesFor(chain).parseRecipient(address)));
}

/** Parses `CHAIN=TOKEN` as `chainAddresses` does. */
export function chainTokens(option: '--token' | '--leave', texts: readonly string[]): readonly ChainAddress[] {
  return texts.map((text) => parsed(option, text, (chain, address) => rulesFor(chain).parseToken(address)));
}

/**
 * Returns the one address of each chain, by its CAIP-2 name. Throws `UsageError` for a second one.
 */
export function recipientsOf(texts: readonly string[]): ReadonlyMap<string, ChainAddress> {
  const recipients = new Map<string, ChainAddress>();
  for (const one of chainAddresses('--to', texts)) {
    const { caip2, name } = one.chain;
    if (recipients.has(caip2)) throw new UsageError(`--to names two addresses on ${name}.`);
    recipients.set(caip2, one);
  }
  return recipients;
}

type Parser = (chain: Chain, address: string) => ReturnType<ReturnType<typeof rulesFor>['parseRecipient']>;

function parsed(option: string, text: string, parse: Parser): ChainAddress {
  const at = text.indexOf('=');
  if (at === -1) throw new UsageError(`${option} has the form CHAIN=ADDRESS, and not '${text}'.`);
  const [name, given] = [text.slice(0, at), text.slice(at + 1)];
  const chain = findChain(knownChains(), name);
  if (chain === null) throw new UsageError(`${option}: ${name} is no chain of the built-in table or of CHAINS.`);
  const address = parse(chain, given);
  if (!address.ok) throw new UsageError(`${option}: '${given}' is no address on ${chain.name}: ${address.refusal}.`);
  return { chain, address: address.value };
}
