import { readAtMost } from '#domain/bounded-read.ts';
import { RELEASE } from '#domain/operations/release.ts';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import { headersIn, sha256 } from '../approval-page-release.ts';
import type { Finding } from './finding.ts';
import type { Status } from './running-check.ts';

/** What the checkout of this command has of its release. */
export interface ReleaseFiles {
  /** src/approval-page/release.txt. */
  readonly approvalPage: string;
  /** The `_headers` of the approval page. */
  readonly headers: string;
  /** The name of the newest migration of D1. */
  readonly newestMigration: string;
}

interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly headers: Headers;
}

const MAX_BYTES = 5_000_000;
const MAX_WAIT_MS = 10_000;

/**
 * Returns what is wrong with the parts of a running deployment that other hosts serve, by reading
 * them from this machine: the approval pages and the issuer. Compares them, and the migrations of
 * D1, with the release of this checkout.
 *
 * @param origin of the service
 */
export async function checkOutside(
  { release, deployment, monitors }: Pick<Status, 'release' | 'deployment' | 'monitors'>,
  origin: string,
  files: ReleaseFiles,
): Promise<readonly Finding[]> {
  const { issuer, approvalOrigins } = deployment;
  const ofLogin = issuer === null ? [] : await issuerFaults(issuer);
  const ofMonitors = (await Promise.all(monitors.map((monitor) => webhookFaults(monitor, origin)))).flat();
  const others = [...ofLogin, ...ofMonitors];
  if (release !== RELEASE) {
    const detail = `This command is of release ${RELEASE}, so the approval page and D1 are not compared.`;
    return [{ level: 'warning', part: 'release', name: release, detail }, ...others];
  }
  const ofPages = await Promise.all(approvalOrigins.map((page) => pageFaults(page, origin, files)));
  return [...migrationFaults(deployment, files), ...ofPages.flat(), ...others];
}

function migrationFaults(
  { newestMigration: applied }: Status['deployment'],
  { newestMigration: newest }: ReleaseFiles,
): readonly Finding[] {
  if (applied === newest) return [];
  const detail = `The newest migration of D1 is ${applied ?? 'none'}, and that of the release is ${newest}.`;
  return [{ level: 'fault', part: 'D1', name: 'migrations', detail }];
}

async function issuerFaults(issuer: string): Promise<readonly Finding[]> {
  const fault = (detail: string): Finding => ({ level: 'fault', part: 'login', name: 'LOGIN', detail });
  const answer = await read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (typeof answer === 'string') return [fault(`The issuer gives no configuration: ${answer}.`)];
  const document = jsonIn(new TextDecoder().decode(answer.bytes));
  if (isJsonObject(document) && document['issuer'] === issuer) return [];
  return [fault('The configuration of the issuer names another issuer, so no person can log in.')];
}

/** The answers of the service itself to a delivery without a signature. */
const REFUSALS: ReadonlySet<unknown> = new Set(['webhook-refused', 'quota-exceeded']);

/**
 * Sends a delivery without a signature, as a monitor would from outside. The service must refuse
 * it: something before the service, such as a login for the whole host, would refuse every
 * delivery. A signed one would hide that a monitor is silent, because its time is that of the last
 * delivery.
 */
async function webhookFaults(
  { endpointId, provider }: Status['monitors'][number],
  origin: string,
): Promise<readonly Finding[]> {
  if (provider === null) return [];
  const url = `${origin}/webhook/${encodeURIComponent(provider)}/${encodeURIComponent(endpointId)}`;
  const answer = await send(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  const body = typeof answer === 'string' ? null : jsonIn(new TextDecoder().decode(answer.bytes));
  if (isJsonObject(body) && REFUSALS.has(body['code'])) return [];
  const found = typeof answer === 'string' ? answer : `HTTP ${answer.status}`;
  const detail = `Deliveries from outside do not reach the service: ${found}.`;
  return [{ level: 'fault', part: `monitor ${endpointId}`, name: 'webhook', detail }];
}

/** `_headers` is read and not served by a static host. The operator adds `allowed-origins.json`. */
async function pageFaults(
  page: string,
  origin: string,
  { approvalPage, headers }: ReleaseFiles,
): Promise<readonly Finding[]> {
  const fault = (detail: string): Finding => ({
    level: 'fault',
    part: `approval page ${page}`,
    name: 'APPROVAL_ORIGIN',
    detail,
  });
  const found: Finding[] = [];
  for (const line of approvalPage.trim().split('\n')) {
    const [hash, name = ''] = line.split('  ');
    if (name === '_headers') continue;
    const answer = await read(`${page}/${name}`);
    if (typeof answer === 'string') found.push(fault(`${name} cannot be read: ${answer}.`));
    else if (sha256(answer.bytes) !== hash) found.push(fault(`${name} is not the file of the release.`));
    else if (name === 'index.html') found.push(...missingHeaders(answer, headers).map(fault));
  }
  const allowed = await read(`${page}/allowed-origins.json`);
  const origins = typeof allowed === 'string' ? null : jsonIn(new TextDecoder().decode(allowed.bytes));
  const isAllowed = Array.isArray(origins) && origins.includes(origin);
  return isAllowed ? found : [...found, fault(`allowed-origins.json does not name ${origin}.`)];
}

/** Returns a text for each header of the release that a response does not have. */
function missingHeaders({ headers }: Answer, released: string): readonly string[] {
  return Object.entries(headersIn(released)).flatMap(([name, value]) =>
    headers.get(name) === value ? [] : [`The header ${name} is not that of the release.`],
  );
}

/** Returns the answer with status 200, or why there is none. */
async function read(url: string): Promise<Answer | string> {
  const answer = await send(url);
  return typeof answer === 'string' || answer.status === 200 ? answer : `HTTP ${answer.status}`;
}

async function send(url: string, init: RequestInit = {}): Promise<Answer | string> {
  try {
    const { status, body, headers } = await fetch(url, { ...init, signal: AbortSignal.timeout(MAX_WAIT_MS) });
    const bytes = await readAtMost(body, MAX_BYTES);
    return bytes === null ? `more than ${MAX_BYTES} bytes` : { status, bytes, headers };
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : 'no connection';
  }
}
