import type { Rule } from '../chains/false-node.ts';
import { startFalseNode } from '../chains/false-node.ts';

const KNOWN: Rule = { passedOn: { code: -32_000, message: 'already known' } };

/** The faults of an RPC node, or of a provider in front of it. */
const ILLNESSES: Readonly<Record<string, (method: string) => Rule>> = {
  // Faults in which the request has no effect.
  error: () => ({ status: 500, body: 'Internal Server Error' }),
  crowded: () => ({ status: 429, body: 'Too Many Requests' }),
  garbage: () => ({ status: 200, body: '<html><body>502 Bad Gateway</body></html>' }),
  internal: () => ({ error: { code: -32_603, message: 'Internal error' } }),
  silent: () => 'ignore',
  // Faults in which the request takes effect and the answer does not show it.
  mute: () => 'mute',
  cut: () => 'halve',
  known: (method) => (method === 'eth_sendRawTransaction' ? KNOWN : 'forward'),
};

/**
 * An RPC node that forwards requests to another one and returns its answers, except for a
 * configurable share of faults.
 */
export interface IllNode {
  readonly url: string;
  /** Sets the share of answers that are faults from now on. */
  fallIll: (share: number) => void;
  /** The number of times that each fault was injected. */
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
