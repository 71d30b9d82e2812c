import { expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { chainsFrom } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';

test('the rules of a chain are built once, and its clients have the same', () => {
  for (const chain of chainsFrom({})) {
    expect(rulesFor(chain)).toBe(rulesFor(chain));
    expect(clientFor(chain, []).rules).toBe(rulesFor(chain));
    expect(rulesFor(chain).chain).toBe(chain);
  }
});

test('a chain with another row has rules of its own', () => {
  const [chain] = chainsFrom({});
  if (chain === undefined) throw new Error('there are built-in chains');
  const changed = { ...chain, confirmations: chain.confirmations + 1 };
  expect(rulesFor(changed).chain.confirmations).toBe(chain.confirmations + 1);
  expect(rulesFor(chain).chain.confirmations).toBe(chain.confirmations);
});
