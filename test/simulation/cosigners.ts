import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CheckedRequest, SigningRequest } from '#cosigner/policy/approval-check.ts';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import type { AdoptionContext, AttestationsByStage } from '#cosigner/policy/adoption.ts';
import { adopt, attest } from '#cosigner/policy/adoption.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import type { Attested } from '#cosigner/policy/attestation.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { recordOf } from '#cosigner/tables/signed-table.ts';
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { refusal, type Refused } from '#cosigner/refusal.ts';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import { parseBody } from '#cosigner/api/request-body.ts';
import { needsReceipts } from '#domain/policy/policy.ts';
import { byPartyOf, bytesOf, fieldsOf, policyNameOf } from '#cosigner/request-parser.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { party } from '../mpc/dealt-key.ts';
import { textSent } from './platform/clocks.ts';
import type { Dealer } from './key-holders.ts';
import { SimulatedShares } from './cosigner-shares.ts';
import type { Schedule } from './schedule.ts';
import { LostCall } from './schedule.ts';
import { Database, objectSql } from '../objects/memory-sql.ts';

/** Receives every partial signature of a co-signer when it is released. */
type RecordImport = (node: number, request: SigningRequest, checked: CheckedRequest) => void;

/** Returns the content of a request: JSON, or a round. */
function contentSent(init: RequestInit): unknown {
  const bytes = init.body instanceof Uint8Array ? init.body : utf8ToBytes(textSent(init));
  return parseBody({ headers: new Headers(init.headers) }, bytes);
}

interface Session {
  readonly dealer: Dealer;
  readonly signers: readonly number[];
  readonly request: SigningRequest;
  readonly checked: CheckedRequest;
}

function attestationText({ policy: { version, hash }, stage, endsAtMs }: Attested): string {
  return `attest ${stage} ${endsAtMs} ${version} ${hash}`;
}

export interface NodeTerms {
  readonly index: number;
  readonly threshold: number;
  /** The dealers, one for each key. */
  readonly dealers: readonly Dealer[];
  readonly policy: Policy;
  readonly importRecord: RecordImport;
}

/**
 * One simulated co-signer. Its check of requests, sign-once record, policies and storage are those
 * of production; one round without cryptography replaces the rounds of the protocol. A restart
 * clears its memory.
 */
export class SimulatedCosigner {
  readonly db = new Database();
  readonly chain: CosignerStorage;
  /** The object of the vault at this co-signer. */
  readonly vault: VaultPolicies;
  readonly #schedule: Schedule;
  readonly #terms: NodeTerms;
  readonly #secret = crypto.getRandomValues(new Uint8Array(32));
  /** Null for a session that was opened ahead. */
  readonly #opened = new Map<string, Session | null>();
  readonly #running = new Map<string, Session>();
  readonly #shares: SimulatedShares;
  #peers: readonly SimulatedCosigner[] = [];
  isUnreachable = false;
  /** The error of the co-signer's clock in milliseconds. */
  skewMs = 0;

  constructor(schedule: Schedule, terms: NodeTerms) {
    this.#schedule = schedule;
    this.#terms = terms;
    this.#shares = new SimulatedShares(terms.index);
    this.chain = new CosignerStorage(objectSql(this.db));
    this.vault = new VaultPolicies(objectSql(this.db));
    this.vault.adopt([terms.policy]);
    this.vault.pin({ version: terms.policy.version, hash: policyHashOf(terms.policy) });
  }

  get index(): number {
    return this.#terms.index;
  }

  meet(peers: readonly SimulatedCosigner[]): void {
    this.#peers = peers;
  }

  restart(): void {
    this.#opened.clear();
    this.#running.clear();
  }

  /** Serves a request as the service binding of the co-signer does. */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    const path = new URL(url).pathname.replace(/^\/v[0-9]+\//, '');
    const body = contentSent(init);
    const answered = this.#schedule.call(`cosigner-${this.index} ${path.split('/').at(-1)}`, async () => {
      if (this.isUnreachable) throw new LostCall('The node is away (simulated)');
      if (this.#schedule.isLuck(this.#schedule.weather.crash)) {
        this.#schedule.note(`cosigner-${this.index} restarts`);
        this.restart();
      }
      return this.#serve(path, body);
    });
    const late = new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
    return Response.json(await Promise.race([answered, late]));
  }

  async #serve(path: string, body: unknown): Promise<Result<unknown, Refused>> {
    const [kind = '', keyId = '', action = ''] = path.split('/');
    if (kind === 'pairs') return accepted(this.#shares.pairs());
    // As a co-signer of release 0.2.0, which knows neither path.
    if (kind === 'self' || kind === 'recovery') return refused(refusal('malformed', 'path'));
    if (kind === 'vault') return this.#serveVault(action, body);
    const dealer = this.#terms.dealers.find((one) => one.keyId === keyId);
    if (['pair', 'reshare', 'proof'].includes(kind)) return this.#shares.run(path, body, dealer);
    if (kind !== 'key' || dealer === undefined) return refused(refusal('unknown-key'));
    switch (action) {
      case 'open':
        return this.#open(dealer, body);
      case 'start':
        return this.#start(dealer, body);
      case 'round':
        return this.#round(body);
      case 'receipt':
        return this.#receipt(dealer, body);
      case 'shares':
        return accepted(this.#shares.held(dealer));
      case 'activate':
        return this.#shares.activate(keyId, (body as { epoch: number }).epoch);
      case 'signed':
        return accepted(this.#signedFor((body as { transactionId: string }).transactionId));
      case 'witness':
        return this.#remember(body as { record: SignedRecord; witnesses: Readonly<Record<string, string>> });
      default:
        return refused(refusal('malformed', action));
    }
  }

  async #serveVault(action: string, body: unknown): Promise<Result<unknown, Refused>> {
    const { vaultId } = this.#terms.policy;
    const context: AdoptionContext = {
      membership: { signingKeys: new Map() },
      keys: {
        sign: async (attested) => hexToBytes(this.#signatureOf(attestationText(attested))),
        attestersOf: async (attested, attestations) => {
          const text = attestationText(attested);
          const valid = this.#peers.filter((peer) => {
            const sent = attestations.get(party(peer.index));
            return peer !== this && sent !== undefined && bytesToHex(sent) === peer.#signatureOf(text);
          });
          return new Set(valid.map(({ index }) => party(index)));
        },
      },
      vaultId,
      vault: this.vault,
      now: () => this.#schedule.nowMs + this.skewMs,
    };
    if (action === 'attest') {
      const { version, hash, policies } = fieldsOf(body, ['version', 'hash', 'policies']);
      return attest(context, policyNameOf({ vaultId, version, hash }), policies);
    }
    const { policies, chosen, adopted } = fieldsOf(body, ['policies', 'chosen', 'adopted']);
    const signatures = (value: unknown) => byPartyOf(value, (one) => bytesOf(one, 64));
    const attestations: AttestationsByStage = { chosen: signatures(chosen), adopted: signatures(adopted) };
    return adopt(context, policies, attestations);
  }

  #check(dealer: Dealer, request: SigningRequest) {
    const view = this.vault.view(request.intent.policyVersion);
    if (view === null) throw new Error('the vault has a policy');
    const nowMs = this.#schedule.nowMs + this.skewMs;
    return checkRequest(request, {
      wallet: dealer.addressOn(request.intent.chain),
      current: view.current,
      named: view.named,
      nowMs,
      feeCeilings: new Map(),
      isRecorded: (id, digest) => this.chain.signed.isRecorded(id, digest),
    });
  }

  async #open(dealer: Dealer, body: unknown): Promise<Result<unknown, Refused>> {
    const { protocol, request } = body as { protocol: string; request: unknown };
    if (!SUPPORTED_PROTOCOLS.includes(protocol)) return refused(refusal('protocol-mismatch'));
    const session = request === null ? accepted(null) : await this.#sessionOf(dealer, request);
    if (!session.ok) return session;
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
    this.#opened.set(nonce, session.value);
    // No envelope is encrypted in the simulation, so no key agreement is needed.
    return accepted({ nonce, opening: '' });
  }

  async #sessionOf(dealer: Dealer, requested: unknown): Promise<Result<Session, Refused>> {
    const { signers, request: sent } = requested as { signers: number[]; request: unknown };
    if (signers.length !== this.#terms.threshold) return refused(refusal('malformed', 'signers'));
    const request = signingRequestOf(sent);
    const checked = await this.#check(dealer, request);
    if (!checked.ok) return checked;
    const free = this.chain.signed.signOnce(request.intent.transactionId, request.attempt, {
      ...checked.value,
      record: false,
    });
    if (!free.ok) return free;
    return accepted({ dealer, signers, request, checked: checked.value });
  }

  async #start(dealer: Dealer, body: unknown): Promise<Result<unknown, Refused>> {
    const { nonces, receipts } = body as Readonly<Record<'nonces' | 'receipts', Readonly<Record<string, string>>>>;
    const own = nonces[String(this.index)] ?? '';
    const opened = this.#opened.get(own);
    this.#opened.delete(own);
    if (opened === undefined) return refused(refusal('unknown-session'));
    const { request: requested } = body as { request?: unknown };
    const planned = opened === null ? await this.#sessionOf(dealer, requested) : accepted(opened);
    if (!planned.ok) return planned;
    const session = planned.value;
    const { request, checked } = session;
    if (this.#lacksReceipt(session, receipts)) return refused(refusal('receipt-missing'));
    if (!this.#isInForce(checked.policy)) return refused(refusal('session-over', 'policy'));
    const written = this.chain.signed.signOnce(request.intent.transactionId, request.attempt, {
      ...checked,
      record: true,
    });
    // A request for another digest was recorded first. A real co-signer throws here, so the
    // coordinator gets no valid answer.
    if (!written.ok) throw new LostCall('another digest was committed to in between (simulated)');
    const named = [...session.signers.map((signer) => nonces[String(signer)]), policyHashOf(checked.policy)];
    const sid = bytesToHex(sha256(utf8ToBytes(named.join())));
    this.chain.openSession(hexToBytes(sid), Date.now());
    this.#running.set(sid, session);
    return accepted({ sid, envelopes: {} });
  }

  async #round(body: unknown): Promise<Result<unknown, Refused>> {
    const { sid } = body as { sid: string };
    const session = this.#running.get(sid);
    if (session === undefined) return refused(refusal('session-over'));
    const { dealer, signers, checked, request } = session;
    const again = await this.#check(dealer, request);
    if (!again.ok || !this.#isInForce(checked.policy)) {
      return refused(refusal('aborted', 'no longer allowed', this.#terms.index));
    }
    if (!this.chain.advance(hexToBytes(sid), 2)) return refused(refusal('session-over'));
    this.#terms.importRecord(this.index, request, checked);
    const turn = { sid, chain: request.intent.chain, signers: signers.length };
    const position = signers.indexOf(this.index);
    const parts = checked.signedMessages.map((message) => dealer.partial(turn, message, position));
    return accepted({ sid, result: { partial: bytesToHex(concatBytes(...parts)) } });
  }

  #isInForce(policy: Policy): boolean {
    return this.vault.hashAt(this.vault.version()) === policyHashOf(policy);
  }

  /**
   * Does what `CosignerKey.receipt` does: the full check, the row, and then the signature over the
   * row.
   */
  async #receipt(dealer: Dealer, body: unknown): Promise<Result<unknown, Refused>> {
    const request = signingRequestOf((body as { request: unknown }).request);
    const checked = await this.#check(dealer, request);
    if (!checked.ok) return checked;
    const { transactionId } = request.intent;
    const written = this.chain.signed.signOnce(transactionId, request.attempt, { ...checked.value, record: true });
    if (!written.ok) return written;
    return accepted({
      receipt: this.#receiptOf(recordOf(transactionId, request.attempt, checked.value), checked.value),
    });
  }

  /** Returns a stand-in for the signature over `receiptBytes`. */
  #receiptOf(record: SignedRecord, { policy }: CheckedRequest): string {
    return this.#signatureOf(`receipt ${JSON.stringify(record)} ${policyHashOf(policy)}`);
  }

  /** Does what `receiptFault` does: reports whether a receipt is missing or wrong. */
  #lacksReceipt({ signers, request, checked }: Session, receipts: Readonly<Record<string, string>>): boolean {
    if (!needsReceipts(checked.policy)) return false;
    const record = recordOf(request.intent.transactionId, request.attempt, checked);
    return this.#peers.some(
      (peer) => !signers.includes(peer.index) && peer.#receiptOf(record, checked) !== receipts[String(peer.index)],
    );
  }

  #signedFor(transactionId: string) {
    return this.chain.signed
      .recordsOf(transactionId)
      .map((record) => ({ record, signature: this.#signatureOf(record) }));
  }

  /**
   * Returns a stand-in for a signature. A peer verifies it by calling this method of its signer.
   */
  #signatureOf(record: SignedRecord | string): string {
    const words = sha256(concatBytes(this.#secret, utf8ToBytes(JSON.stringify(record))));
    return bytesToHex(concatBytes(words, words));
  }

  #remember({
    record,
    witnesses,
  }: {
    readonly record: SignedRecord;
    readonly witnesses: Readonly<Record<string, string>>;
  }): Result<null, Refused> {
    const proven = this.#peers.filter((peer) => peer.#signatureOf(record) === witnesses[String(peer.index)]);
    if (proven.length < this.#terms.threshold) return refused(refusal('not-enough-witnesses'));
    return this.chain.signed.remember(record) ? accepted(null) : refused(refusal('second-digest'));
  }
}
