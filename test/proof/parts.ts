import { readdirSync } from 'node:fs';

/** One part of the proof: a command that takes ten minutes at most on two cores. */
export interface ProofPart {
  readonly name: string;
  readonly command: readonly string[];
}

/** Folders of tests that run in Node. parts.test.ts finds a missing folder. */
const OTHER_ROOMS =
  'approval-page architecture bench cli cosigner-client dashboard devices fuzz http jobs limits local monitors mutation notifications objects prices proof review setup simulation store vectors worker';

/**
 * Folders and test files as arguments for vitest. Together they hold every test that runs in Node,
 * and every test that runs the whole stack.
 */
export const NODE_TESTS: Readonly<Record<string, readonly string[]>> = {
  'domain, chains and protocols': ['test/domain/', 'test/chains/', 'test/curve/', 'test/mpc/'],
  'co-signers': ['test/cosigner/'],
  'attacks in one process': ['test/attacks/'],
  'the other rooms': OTHER_ROOMS.split(' ').map((room) => `test/${room}/`),
};

export const OUTSIDE_TESTS: Readonly<Record<string, readonly string[]>> = {
  'the stack on EVM chains': ['test/e2e/evm/'],
  'the stack on Bitcoin and Solana': ['test/e2e/bitcoin/', 'test/e2e/solana/'],
  'operations, devices and logins': ['test/e2e/operations/', ...testFilesIn('test/e2e/')],
  'the spec': ['test/spec/'],
  'browsers, and attacks on them': ['test/browser/', 'test/attacks/'],
};

/** Returns the test files directly in a folder. */
function testFilesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith('.test.ts') ? [`${folder}${name}`] : []));
}

const BUG_PARTS = 12;
const MUTATION_PARTS = 4;
const POINT_PARTS = 2;
const CURVE_PARTS = 4;

function script(name: string, ...words: readonly string[]): readonly string[] {
  return ['npm', 'run', '--silent', name, ...(words.length === 0 ? [] : ['--', ...words])];
}

function tests(project: string, paths: readonly string[]): readonly string[] {
  return ['npx', 'vitest', 'run', '--project', project, ...paths];
}

/** Returns all parts of `npm run proof`, in order: parts that fail often and fast come first. */
export const PROOF_PARTS: readonly ProofPart[] = [
  { name: 'check', command: script('check') },
  { name: 'build', command: script('build') },
  ...Object.entries(NODE_TESTS).map(([name, paths]) => ({ name: `tests: ${name}`, command: tests('node', paths) })),
  { name: 'tests: the coordinator in workerd', command: tests('worker', []) },
  ...Object.entries(OUTSIDE_TESTS).map(([name, paths]) => ({ name: `tests: ${name}`, command: tests('e2e', paths) })),
  { name: 'release builds twice alike', command: script('release', '--check', '--bundled-node') },
  { name: 'demo', command: script('demo') },
  { name: 'demo with four co-signers', command: script('demo', '--cosigners', '4') },
  { name: 'bench', command: script('bench', '--brief') },
  { name: 'simulation', command: script('test:simulation', '--from', '1', '--count', '1000') },
  ...Array.from({ length: POINT_PARTS }, (_, i) => ({
    name: `every single death, part ${i + 1} of ${POINT_PARTS}`,
    command: script('test:simulation', '--points', '--turn', `${i}/${POINT_PARTS}`),
  })),
  { name: 'every lie of an RPC node', command: script('test:simulation', '--lies') },
  { name: 'adversary', command: script('test:adversary', '--from', '1', '--count', '4000') },
  ...Array.from({ length: CURVE_PARTS }, (_, i) => ({
    name: `a quarter of a million points, part ${i + 1} of ${CURVE_PARTS}`,
    command: script('test:curve'),
  })),
  { name: 'times of secret scalars', command: script('test:timing') },
  { name: 'payload mutation', command: script('test:payload-mutation') },
  { name: 'fuzz', command: script('test:fuzz') },
  { name: 'kill test', command: script('test:kill') },
  { name: 'upgrade of the golden state', command: script('test:upgrade') },
  { name: 'feed of ten thousand changes', command: script('test:feed') },
  { name: 'ten thousand deliveries', command: script('test:deliveries') },
  ...Array.from({ length: BUG_PARTS }, (_, i) => ({
    name: `planted bugs, part ${i + 1} of ${BUG_PARTS}`,
    command: script('test:planted-bugs', '--turn', `${i}/${BUG_PARTS}`),
  })),
  ...Array.from({ length: MUTATION_PARTS }, (_, i) => ({
    name: `mutation, part ${i + 1} of ${MUTATION_PARTS}`,
    command: script('test:mutation', '--turn', `${i}/${MUTATION_PARTS}`),
  })),
];
