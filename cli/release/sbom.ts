import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SourcesOfParts } from './build.ts';

/** The parts of a CycloneDX document of npm that are read or changed here. */
interface Sbom {
  serialNumber?: string;
  metadata: { timestamp?: string; tools?: unknown; component: Component };
  components: Component[];
  dependencies: { readonly ref: string; dependsOn?: string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  name: string;
  scope: string;
  properties: { readonly name: string; readonly value: string }[];
  externalReferences: { readonly type: string }[];
}

interface Manifest {
  readonly name: string;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly name?: string; readonly version: string } | undefined>>;
}

/**
 * Returns the CycloneDX document of a release: the packages that package.json lists as
 * dependencies, those that they need, and each further package with bytes in a part of the release.
 * Packages with bytes in it name the part.
 *
 * npm reads the lockfile alone, so the network and the installed packages play no role. The same
 * lockfile and sources give the same document: it names no run, no folder, and no registry.
 */
export async function sbomOf(checkout: string, sources: SourcesOfParts): Promise<string> {
  const { name } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as Manifest;
  const lockfile = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8')) as Lockfile;
  const parts = partsOfPackages(sources, lockfile);
  const sbom = await npmSbom(checkout);

  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  delete sbom.metadata.tools;
  // npm takes the name of the folder.
  sbom.metadata.component.name = name;
  const isPartOfRelease = (component: Component) => component.scope === 'required' || parts.has(component['bom-ref']);
  sbom.components = sbom.components.filter(isPartOfRelease);
  for (const component of sbom.components) {
    // What is bundled runs, also where it is a development dependency.
    component.scope = 'required';
    const names = parts.get(component['bom-ref']) ?? [];
    component.properties = names.map((value) => ({ name: 'conclave:bundled-in', value }));
    // A distribution is the address of a registry, which is a setting of who wrote the lockfile.
    component.externalReferences = component.externalReferences.filter(({ type }) => type !== 'distribution');
  }
  sbom.components.push(...compiledLibraries(sources));
  const refs = new Set([sbom.metadata.component, ...sbom.components].map((component) => component['bom-ref']));
  sbom.dependencies = sbom.dependencies.flatMap(({ ref, dependsOn = [] }) =>
    refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }] : [],
  );
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** The C library in `src/curve/secp256k1.wasm`, whose source comes from Debian (secp256k1.sh). */
const LIBSECP256K1 = {
  type: 'library',
  'bom-ref': 'libsecp256k1@0.5.0',
  name: 'libsecp256k1',
  version: '0.5.0',
  purl: 'pkg:deb/debian/libsecp256k1@0.5.0?arch=source',
  licenses: [{ license: { id: 'MIT' } }],
  scope: 'required',
  externalReferences: [],
};

/** Returns the libraries that are compiled into modules of WebAssembly, which npm does not list. */
function compiledLibraries(sources: SourcesOfParts): readonly Component[] {
  const parts = Object.entries(sources).filter(([, paths]) =>
    paths.some((path) => path.endsWith('/curve/secp256k1.ts')),
  );
  const properties = parts.map(([value]) => ({ name: 'conclave:bundled-in', value }));
  return parts.length === 0 ? [] : [{ ...LIBSECP256K1, properties }];
}

/**
 * Returns what npm lists of all packages, also where the settings of the shell omit some. With
 * `--omit dev` npm would omit some dependencies as well, such as zod.
 */
async function npmSbom(checkout: string): Promise<Sbom> {
  const packages = ['--package-lock-only', '--include', 'dev', '--include', 'optional', '--include', 'peer'];
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', ...packages];
  const { stdout } = await promisify(execFile)('npm', words, { cwd: checkout, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Sbom;
}

/** Returns the parts of the release that contain a package, by name and version. */
function partsOfPackages(sources: SourcesOfParts, lockfile: Lockfile): ReadonlyMap<string, readonly string[]> {
  const parts = new Map<string, string[]>();
  for (const [part, paths] of Object.entries(sources)) {
    const folders = new Set(paths.flatMap((path) => packageFolder(path) ?? []));
    for (const folder of folders) {
      const entry = lockfile.packages[folder];
      if (entry === undefined) throw new Error(`${part} contains ${folder}, which is not in package-lock.json`);
      const ref = `${entry.name ?? folder.replace(/^.*node_modules\//, '')}@${entry.version}`;
      parts.set(ref, [...new Set([...(parts.get(ref) ?? []), part])]);
    }
  }
  return parts;
}

/** Returns the folder of the package that a source file belongs to, as the lockfile spells it. */
function packageFolder(path: string): string | undefined {
  return /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}
