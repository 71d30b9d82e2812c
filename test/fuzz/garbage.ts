/** A source of random numbers from 0 up to 1, without 1. */
export type Chance = () => number;

export function pick<T>(chance: Chance, from: readonly T[]): T {
  const picked = from[Math.floor(chance() * from.length)];
  if (picked === undefined) throw new Error('there is nothing to pick from');
  return picked;
}

const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '007',
  '9'.repeat(100),
  'null',
  '../..',
  '%00',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '\u0000',
  '\u202Eevil',
  '\uD800',
  '🔑'.repeat(50),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  '0x',
  '{"types":{},"primaryType":"A","domain":{},"message":{}}',
];

/** Returns a value that hardly any field accepts. */
function garbage(chance: Chance, depth = 0): unknown {
  switch (Math.floor(chance() * (depth > 3 ? 6 : 8))) {
    case 0:
      return null;
    case 1:
      return chance() < 0.5;
    case 2:
      return pick(chance, [0, -1, 1, 1.5, 2 ** 31, 2 ** 53, 1e300, -0]);
    case 3:
    case 4:
    case 5:
      return pick(chance, ODD_TEXTS);
    case 6:
      return Array.from({ length: Math.floor(chance() * 4) }, () => garbage(chance, depth + 1));
    default:
      return Object.fromEntries([[pick(chance, ODD_TEXTS), garbage(chance, depth + 1)]]);
  }
}

/**
 * Returns a body as clients may send it: unchanged, with fields changed, removed or added, or as
 * text that is not JSON.
 */
export function spoiled(chance: Chance, body: Readonly<Record<string, unknown>>): string {
  const dice = chance();
  if (dice < 0.35) return JSON.stringify(body);
  if (dice < 0.4)
    return pick(chance, ['', '{', '[]', 'null', '"text"', '\uFEFF{}', '{"a":1,"a":2}', '['.repeat(2_000)]);
  const changed: Record<string, unknown> = { ...body };
  const names = Object.keys(changed);
  const changes = 1 + Math.floor(chance() * 2);
  for (let i = 0; i < changes && names.length > 0; i++) {
    const name = pick(chance, names);
    if (chance() < 0.2) delete changed[name];
    else changed[name] = garbage(chance);
  }
  if (chance() < 0.15) changed[pick(chance, ODD_TEXTS)] = garbage(chance);
  return JSON.stringify(changed);
}

export function oddText(chance: Chance): string {
  return pick(chance, ODD_TEXTS);
}
