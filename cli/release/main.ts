import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { argumentsForOwnNode } from '../own-node.ts';
import { RELEASE, releaseHash, releaseOf } from '../approval-page-release.ts';
import type { SourcesOfParts } from './build.ts';
import { buildRelease } from './build.ts';
import { changelogFaults } from './changelog.ts';
import { differingFiles, filesWithPath } from './comparison.ts';
import { goldenStateFaults } from './golden-state.ts';
import { changedFiles, headCommit, trackedFiles } from './checkout.ts';
import { sbomOf } from './sbom.ts';

/**
 * `node cli/release/main.ts`: checks that the checkout can be released, builds everything that is
 * deployed twice, compares both builds, and writes them to dist/release with their hashes and an
 * SBOM.
 *
 * `--check` leaves out the checks of the commit, the change log and the golden state, so it also
 * runs between releases, and for anyone who reproduces the hashes of a release.
 */

const CHECKOUT = resolve(import.meta.dirname, '..', '..');
const OUTPUT = join(CHECKOUT, 'dist', 'release');

/** Variables that change the output of a build which is not reproducible. */
const OTHER_ENVIRONMENT = { NODE_ENV: 'development', TZ: 'Asia/Tokyo', LC_ALL: 'C' };

/**
 * Copies the tracked files as they are now, so that both builds have the changes that are not
 * committed yet.
 */
function copyCheckout(target: string): void {
  for (const name of trackedFiles(CHECKOUT)) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    cpSync(join(CHECKOUT, name), join(target, name));
  }
  symlinkSync(realpathSync(join(CHECKOUT, 'node_modules')), join(target, 'node_modules'));
}

/** Returns what the checkout lacks for the release of a version. */
function checkoutFaults(version: string): readonly string[] {
  const changed = changedFiles(CHECKOUT);
  return [
    ...(changed.length === 0 ? [] : [`these files have changes that are not committed: ${changed.join(', ')}`]),
    ...changelogFaults(readFileSync(join(CHECKOUT, 'CHANGELOG.md'), 'utf8'), version),
    ...goldenStateFaults(CHECKOUT, version),
  ];
}

function refuse(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${what}:\n- ${faults.join('\n- ')}`);
}

/**
 * Builds the release here and in another folder. Returns the sources in it, or throws the names of
 * the files that differ.
 */
async function buildTwice(): Promise<SourcesOfParts> {
  const other = mkdtempSync(join(tmpdir(), 'conclave-release-'));
  try {
    const copy = join(other, 'another checkout');
    copyCheckout(copy);
    rmSync(OUTPUT, { recursive: true, force: true });
    const [sources] = await Promise.all([
      buildRelease(CHECKOUT, OUTPUT, {}),
      buildRelease(copy, join(other, 'build'), OTHER_ENVIRONMENT),
    ]);
    const differing = differingFiles(releaseOf(OUTPUT), releaseOf(join(other, 'build')));
    if (differing.length > 0) throw new Error(`two builds differ in ${differing.join(', ')}`);
    return sources;
  } finally {
    // After a fault of one build the others may still write.
    rmSync(other, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns what is wrong with the files of a build that are the same in both. */
function buildFaults(list: string): readonly string[] {
  // Both builds read the packages from one folder, so the comparison does not find its path.
  const withPath = filesWithPath(OUTPUT, list, [CHECKOUT, realpathSync(join(CHECKOUT, 'node_modules'))]);
  const isPageReleased = releaseOf(join(OUTPUT, 'approval-page')) === readFileSync(RELEASE, 'utf8');
  return [
    ...withPath.map((name) => `${name} contains a path of this machine`),
    ...(isPageReleased
      ? []
      : ['the approval page differs from release.txt; record it with `npm run approval-page:hash -- --write`']),
  ];
}

async function release(isCheck: boolean): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')) as { readonly version: string };
  if (!isCheck) refuse(`version ${version} cannot be released`, checkoutFaults(version));
  const sources = await buildTwice();
  const list = releaseOf(OUTPUT);
  refuse('the build cannot be released', buildFaults(list));
  const hash = releaseHash(list);
  writeFileSync(join(OUTPUT, 'sbom.cdx.json'), await sbomOf(CHECKOUT, sources));
  writeFileSync(join(OUTPUT, 'SHA256SUMS'), list);
  process.stdout.write(`${list}\nrelease hash: ${hash}\ncommit: ${headCommit(CHECKOUT)}\n`);
  if (isCheck) return;
  process.stdout.write(`
What is left to do:
1. git tag -s v${version} -m 'Release ${version}, release hash ${hash}'
2. git push origin v${version}, and publish SHA256SUMS and sbom.cdx.json of dist/release beside it.
3. Deploy the co-signers one by one, then the coordinator, as docs/deploy.md says.
`);
}

try {
  const args = argumentsForOwnNode(process.argv.slice(2), 'node cli/release/main.ts');
  const { values } = parseArgs({ args: [...args], options: { check: { type: 'boolean', default: false } } });
  await release(values.check);
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
