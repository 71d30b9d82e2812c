import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { takeOverClock } from './clock.ts';
import type { Verdict } from './game.ts';

/**
 * `npm run test:adversary` plays random attackers against co-signers: a coordinator and as many
 * co-signers as the documents allow choose from a grammar of lies (moves.ts, policies.ts,
 * epochs.ts). An oracle judges every signature (oracle.ts), and at the end whether the shares of
 * the key can still be replaced.
 *
 *     npm run test:adversary                              1,000 games from seed 1
 *     npm run test:adversary -- --count 100000 --from 1   the long mode
 *     npm run test:adversary -- --seed 4711               one game, with its trace
 *
 * Exit 1 when anything was signed that the people did not approve, or paid twice, or when the key
 * can get no new shares.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    /** Ends at the first game that fails. */
    stop: { type: 'boolean', default: false },
    /** Set in a process that plays a part of the games. */
    part: { type: 'boolean', default: false },
  },
});

const PROCESSES = 2;
const begun = process.hrtime.bigint();

interface Sum {
  games: number;
  failed: number;
  signatures: number;
}

function textOf(seed: number, { faults, trace }: Verdict): string {
  const words = faults.length === 0 ? ['nothing is wrong'] : faults;
  return [`seed ${seed}: ${words.join('; ')}`, ...trace.map((line) => `  ${line}`)].join('\n');
}

async function playAll(first: number, count: number): Promise<Sum> {
  takeOverClock();
  const { play } = await import('./game.ts');
  const sum: Sum = { games: 0, failed: 0, signatures: 0 };
  for (let seed = first; seed < first + count; seed++) {
    const verdict = await play(seed);
    sum.games += 1;
    sum.signatures += verdict.signatures;
    if (verdict.faults.length > 0) sum.failed += 1;
    if (verdict.faults.length > 0 || options.seed !== undefined) console.log(textOf(seed, verdict));
    if (options.stop && sum.failed > 0) break;
  }
  return sum;
}

/** Plays the games in several processes. */
async function playShared(first: number, count: number): Promise<Sum> {
  const size = Math.ceil(count / PROCESSES);
  const sums = await Promise.all(
    Array.from({ length: PROCESSES }, (_, i) => partOf(first + i * size, Math.min(size, count - i * size))),
  );
  const total = (of: (sum: Sum) => number) => sums.reduce((all, sum) => all + of(sum), 0);
  return {
    games: total(({ games }) => games),
    failed: total(({ failed }) => failed),
    signatures: total(({ signatures }) => signatures),
  };
}

async function partOf(first: number, count: number): Promise<Sum> {
  const requested = ['--part', '--from', String(first), '--count', String(count), ...(options.stop ? ['--stop'] : [])];
  const command = [...process.execArgv, import.meta.filename, ...requested];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const lines = text.trimEnd().split('\n');
  const last = lines.pop() ?? '';
  for (const line of lines) console.log(line);
  if (!last.startsWith('{')) throw new Error(`a part of the games ended with ${code}`);
  return JSON.parse(last) as Sum;
}

const [first, count] = [options.seed ?? options.from, options.seed === undefined ? options.count : '1'];
const isAlone = options.part || options.seed !== undefined;
const [from, games] = [Number.parseInt(first, 10), Number.parseInt(count, 10)];
const sum = isAlone ? await playAll(from, games) : await playShared(from, games);
const seconds = Math.round(Number(process.hrtime.bigint() - begun) / 1e9);
console.log(
  options.part
    ? JSON.stringify(sum)
    : `${sum.games} games, ${sum.signatures} signatures, ${sum.failed} games failed, ${seconds} s`,
);
if (sum.failed > 0) process.exitCode = 1;
