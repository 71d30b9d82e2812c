import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { specialAddress } from '#chains/evm/rules/special-address.ts';
import type { Warning } from '#chains/inspect/warning.ts';
import type { ListedToken } from '#domain/asset/chain.ts';
import type { Intent } from '#domain/transaction/intent.ts';

/** A payment that an intent makes, as far as it can be read. */
interface Payment {
  readonly to: string;
  /** The token contract, or null for the native asset. */
  readonly tokenAddress: string | null;
}

/** What standards call the recipient of tokens in their functions. */
const RECIPIENT_ARGUMENTS: ReadonlySet<string> = new Set(['to', 'receiver']);

/** The incinerator of Solana (`solana_sdk::incinerator`). Each block destroys what it holds. */
const SOLANA_INCINERATOR = '1nc1nerator11111111111111111111111111111111';

/** The wrapped ether of OP-stack chains: a plain payment to it wraps ether. */
const OP_WETH = '0x4200000000000000000000000000000000000006';

/**
 * Returns warnings about recipients from which a payment does not come back. They depend only on
 * the intent and on the listed tokens of its chain.
 */
export function recipientWarnings(intent: Intent, tokens: readonly ListedToken[]): Warning[] {
  return paymentsIn(intent).flatMap((payment) => [...ofToken(payment, tokens), ...ofKeyless(payment)]);
}

/** Returns the recipients of an intent, each once. */
export function recipientsOf(intent: Intent): readonly string[] {
  return [...new Set(paymentsIn(intent).map(({ to }) => to))];
}

/** Returns a warning for each recipient that is a contract, according to an RPC node. */
export function contractWarnings(contracts: readonly string[]): Warning[] {
  return contracts.map((to) => ({
    code: 'recipient-is-contract',
    detail: `${to} is a contract. What it receives can be moved only as its code allows.`,
  }));
}

/** Returns a warning when the contract of a token is its own spender. */
export function spenderWarnings(spender: string, tokenAddress: string): Warning[] {
  if (spender !== tokenAddress) return [];
  const detail = `${spender} is the contract of the token itself. Such an allowance has no known use.`;
  return [{ code: 'spender-is-token', detail }];
}

function paymentsIn(intent: Intent): readonly Payment[] {
  if (intent.kind === 'transfer') return [intent];
  if (intent.kind !== 'contract-interaction') return [];
  const { to: called, data } = intent;
  if (data === '0x') return [{ to: called, tokenAddress: null }];
  const named = (decodeCall(data)?.arguments ?? []).filter(
    ({ name, type }) => type === 'address' && RECIPIENT_ARGUMENTS.has(name),
  );
  return named.map(({ value }) => ({ to: String(value), tokenAddress: called }));
}

function ofToken({ to, tokenAddress }: Payment, tokens: readonly ListedToken[]): Warning[] {
  if (tokenAddress === null) return [];
  const seldomReturns = 'A token contract can seldom return tokens that it receives.';
  if (to === tokenAddress) {
    const detail = `The recipient ${to} is the contract of the token itself. ${seldomReturns}`;
    return [{ code: 'recipient-is-token', detail }];
  }
  const other = tokens.find(({ address }) => address === to);
  if (other === undefined) return [];
  const detail = `The recipient ${to} is the contract of the token ${other.symbol}. ${seldomReturns}`;
  return [{ code: 'recipient-is-other-token', detail }];
}

function ofKeyless({ to, tokenAddress }: Payment): Warning[] {
  const special = to === SOLANA_INCINERATOR ? 'burn' : specialAddress(to);
  if (special === 'burn') {
    const detail = `${to} is a burn address, of which no one has the key. What it receives is lost.`;
    return [{ code: 'recipient-is-burn-address', detail }];
  }
  if (special === null || (tokenAddress === null && to === OP_WETH)) return [];
  const detail = `${to} belongs to the system of a chain, and no one has its key. What it receives may be lost.`;
  return [{ code: 'recipient-is-system-address', detail }];
}
