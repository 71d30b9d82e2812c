import type { Rule } from '../chains/false-node.ts';
import { startFalseNode } from '../chains/false-node.ts';

const KNOWN: Rule = { passedOn: { code: -32_000, message: 'already known' } };

/** What a node has, or a provider in front of it, when it is ill. */
const ILLNESSES: Readonly<Record<string, (method: string) => Rule>> = {
  // Nothing was done.
  error: () => ({ status: 500, body: 'Internal Server Error' }),
  crowded: () => ({ status: 429, body: 'Too Many Requests' }),
  garbage: () => ({ status: 200, body: '<html><body>502 Bad Gateway</body></html>' }),
  internal: () => ({ error: { code: -32_603, message: 'Internal error' } }),
  silent: () => 'ignore',
  // It was done, and the answer does not say so.
  mute: () => 'mute',
  cut: () => 'halve',
  known: (method) => (method === 'eth_sendRawTransaction' ? KNOWN : 'forward'),
};

/**
 * An RPC node that forwards requests to another one, and returns its answers as long as it is well.
 */
export interface IllNode {
  readonly url: string;
  /** Sets the share of its answers that are wrong from now on. */
  fallIll: (share: number) => void;
  /** How often it had what. */
  readonly had: ReadonlyMap<string, number>;
  readonly stop: () => Promise<void>;
}

export async function startIllNode(behind: string, chance: () => number): Promise<IllNode> {
  const had = new Map<string, number>();
  const kinds = Object.entries(ILLNESSES);
  let share = 0;
  const node = await startFalseNode(behind);
  node.follow((method) => {
    const [name, illness] = kinds[Math.floor(chance() * kinds.length)] ?? [];
    if (name === undefined || illness === undefined || chance() >= share) return 'forward';
    had.set(name, (had.get(name) ?? 0) + 1);
    return illness(method);
  });
  return { url: node.url, fallIll: (of) => void (share = of), had, stop: () => node.stop() };
}
