import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { identitySecrets, publicIdentity } from '#mpc/identity.ts';
import { prepareKeyGeneration } from '#cosigner/key/key-generation.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import { preparePairing } from '#cosigner/session/pairing.ts';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { parsePolicies } from '#cosigner/policy/policy-chain.ts';
import { intentOf } from '#cosigner/signed-document.ts';
import { resharingContext, resharingRequestOf } from '#cosigner/key/resharing.ts';
import type { AttestationStage } from '#cosigner/policy/attestation.ts';
import { attestationKeysOf } from '#cosigner/policy/attestation.ts';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import { recordBytes } from '#cosigner/policy/signed-record.ts';
import { receiptBytes } from '#cosigner/policy/receipt.ts';
import { prepareSigning } from '#cosigner/session/signing.ts';
import { bindingContext } from '#cosigner/session/signing-request.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { KeyRequest } from '#jobs/keys/generate-key.ts';
import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import type { Channel, EphemeralKey } from '#mpc/channel.ts';
import { newEphemeralKey, EXCHANGE_KEY_BYTES, openChannel } from '#mpc/channel.ts';
import type { CosignerIdentity, PeerIdentity } from '#mpc/envelope.ts';
import { importIdentity, importPeer, openEnvelope, sealEnvelope, signAsCosigner } from '#mpc/envelope.ts';
import { keyProofDigest } from '#cosigner/key/proof-digest.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { taggedHash } from '#mpc/transcript.ts';
import { party } from '../../mpc/dealt-key.ts';
import { present } from '../cosigners.ts';

/**
 * Changes a message before the puppet seals it, as only a cheating co-signer and no relay can.
 * Round 0 is the opening, which starts with the ephemeral key and which the puppet signs.
 */
export type Lie = (message: Uint8Array, about: { readonly purpose: string; readonly round: number }) => Uint8Array;

/**
 * A session that the puppet has opened. As in an honest co-signer, each session has an ephemeral
 * key.
 */
interface Opened {
  readonly preparation: SessionPlan;
  readonly protocol: string;
  readonly ephemeral: EphemeralKey;
}

interface Session {
  readonly purpose: string;
  readonly channels: ReadonlyMap<PartyIndex, Channel>;
  round: number;
  next: Round | null;
}

/**
 * A co-signer in an attacker's hands: it has the keys of a real co-signer, follows the protocol,
 * skips all optional checks, and sends false messages when the test requires it. The other
 * co-signers cannot distinguish it from the real one.
 */
export class Puppet implements CosignerClient {
  readonly index: PartyIndex;
  lie: Lie = (message) => message;
  readonly #own: CosignerIdentity;
  readonly #peers: ReadonlyMap<PartyIndex, PeerIdentity>;
  readonly #opened = new Map<string, Opened>();
  readonly #sessions = new Map<string, Session>();
  readonly #pairs = new Map<PartyIndex, PairSetup>();
  readonly #shares = new Map<string, KeyShare>();
  #inForce: Policy | null = null;

  private constructor(index: PartyIndex, own: CosignerIdentity, peers: ReadonlyMap<PartyIndex, PeerIdentity>) {
    this.index = index;
    this.#own = own;
    this.#peers = peers;
  }

  /** @param folder of the local configuration, with the secrets of every co-signer */
  static async ofNode2(folder: string): Promise<Puppet> {
    return Puppet.of(folder, 2);
  }

  /**
   * Returns a puppet with the keys of any co-signer, in a configuration of this number of
   * co-signers.
   */
  static async of(folder: string, index: number): Promise<Puppet> {
    const { cosigners }: { cosigners: readonly { identity: string }[] } = JSON.parse(
      readFileSync(join(folder, 'secrets.json'), 'utf8'),
    );
    const peers = new Map<PartyIndex, PeerIdentity>();
    for (const [i, { identity }] of cosigners.entries()) {
      const { signing, exchange } = publicIdentity(identity);
      const keys = { signing: hexToBytes(signing), exchange: hexToBytes(exchange) };
      if (i + 1 !== index) peers.set(party(i + 1), await importPeer(party(i + 1), keys));
    }
    const secrets = identitySecrets(present(cosigners[index - 1]).identity);
    return new Puppet(party(index), await importIdentity(party(index), secrets), peers);
  }

  async call(path: string, body: unknown): ReturnType<CosignerClient['call']> {
    const [kind = '', name = '', action] = path.split('/');
    const fields = body as Readonly<Record<string, unknown>>;
    try {
      if (kind === 'keygen' && this.#inForce === null) return this.#refusal('policy-behind', '0');
      if (path === 'pairs/status') return accepted(this.#pairStates());
      if (action === 'open') return accepted(await this.#open(kind, name, fields as unknown as OpenBody));
      if (action === 'attest') return accepted(await this.#attest(fields));
      if (action === 'policy') return accepted({ version: this.#adopt(fields['policies']) });
      if (action === 'receipt') return accepted({ receipt: await this.receipt(name, fields) });
      if (action === 'start') return accepted(await this.#start(fields as unknown as Invitation));
      return accepted(await this.#round(fields as unknown as RoundBody));
    } catch (error) {
      return this.#refusal('aborted', String(error));
    }
  }

  #refusal(code: string, detail: string) {
    return refused({ cosigner: this.index, code, detail, culprit: null });
  }

  /**
   * The policy that the puppet takes for the one in force: the newest that it was shown, unless the
   * test sets another.
   */
  get inForce(): Policy {
    return present(this.#inForce);
  }

  set inForce(policy: Policy) {
    this.#inForce = policy;
  }

  #adopt(sent: unknown): number {
    for (const { policy } of parsePolicies(sent)) this.#inForce = policy;
    return this.inForce.version;
  }

  /** Attestations for any policy. */
  async #attest({ version, hash, policies }: Readonly<Record<string, unknown>>) {
    const inForce = this.#inForce;
    if (inForce !== null && policyHashOf(inForce) === hash)
      return { stage: 'adopted', attestation: await this.attest(inForce, 'adopted'), version, hash };
    const last = [...parsePolicies(policies)].at(-1);
    if (last === undefined || policyHashOf(last.policy) !== hash) throw new Error('the list has no such policy');
    const { policy: head, mandate } = last;
    return {
      stage: 'chosen',
      attestation: await this.attest(head, 'chosen', mandate?.expiresAtMs ?? null),
      version: inForce?.vaultId === head.vaultId ? inForce.version : 0,
      hash: inForce?.vaultId === head.vaultId ? policyHashOf(inForce) : null,
    };
  }

  /** Attests any policy. */
  async attest(policy: Policy, stage: AttestationStage, endsAtMs: number | null = null): Promise<string> {
    const keys = attestationKeysOf({ own: this.#own, peers: this.#peers });
    return bytesToHex(await keys.sign({ policy: nameOf(policy), stage, endsAtMs }));
  }

  /** Returns a receipt for any request, and records nothing. */
  async receipt(keyId: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
    const bytes = receiptBytes(keyId, this.#rowOf(fields), this.inForce);
    return bytesToHex(await signAsCosigner(this.#own, bytes));
  }

  /** Signs a row that the puppet never wrote. */
  async rowSignature(keyId: string, fields: Readonly<Record<string, unknown>>): Promise<string> {
    return bytesToHex(await signAsCosigner(this.#own, recordBytes(keyId, this.#rowOf(fields))));
  }

  #rowOf(fields: Readonly<Record<string, unknown>>): SignedRecord {
    const { request } = fields as unknown as { request: SentRequest };
    const { payload, attempt, purpose } = request;
    const intent = intentOf(request.intent);
    const inspected = inspectPayload(intent.kind === 'message' ? intent : actionOfAttempt(intent, purpose), payload);
    if (!inspected.ok) throw new Error(inspected.refusal);
    const bid = inspected.value.kind === 'message' ? null : inspected.value.bid;
    return {
      transactionId: intent.transactionId,
      attempt,
      purpose,
      intentDigest: bytesToHex(sha256(intentBytes(intent))),
      signingDigest: bytesToHex(inspected.value.signingDigest),
      nonce: bid?.nonce.toString() ?? null,
      maxFee: bid?.maxFee.toString() ?? null,
      maxTip: bid?.maxTip.toString() ?? null,
    };
  }

  /**
   * Returns the occasion that the honest co-signers compute for this request. The puppet must
   * compute the same one to share their session.
   */
  #occasionOf(fields: Readonly<Record<string, unknown>>): Occasion {
    const { signers, request } = fields as unknown as { signers: readonly PartyIndex[]; request: SentRequest };
    const { payload, attempt, purpose } = request;
    const intent = intentOf(request.intent);
    const inspected = inspectPayload(intent.kind === 'message' ? intent : actionOfAttempt(intent, purpose), payload);
    if (!inspected.ok) throw new Error(inspected.refusal);
    const occasion = bindingContext({ intent, attempt }, this.inForce);
    return { signers, messages: inspected.value.signedMessages, occasion };
  }

  #pairStates(): Record<string, unknown> {
    const stateOf = (peer: PartyIndex) => {
      const setup = this.#pairs.get(peer);
      return { banned: false, setupId: setup === undefined ? null : bytesToHex(setup.setupId) };
    };
    return Object.fromEntries([...this.#peers.keys()].map((peer) => [String(peer), stateOf(peer)]));
  }

  /** All co-signers of the deployment, in order. */
  #parties(): readonly PartyIndex[] {
    return [this.index, ...this.#peers.keys()].toSorted((a, b) => a - b);
  }

  async #open(kind: string, name: string, { protocol, request }: OpenBody): Promise<unknown> {
    const nonce = bytesToHex(randomBytes(32));
    const preparation = this.#prepare(kind, name, request);
    const ephemeral = await newEphemeralKey();
    this.#opened.set(nonce, { preparation, protocol, ephemeral });
    const { purpose, context, participants, opening } = preparation;
    const altered = opening === null ? new Uint8Array() : this.lie(Uint8Array.from(opening), { purpose, round: 1 });
    const said = this.lie(Uint8Array.from(Buffer.concat([ephemeral.publicKey, altered])), { purpose, round: 0 });
    const path = Uint8Array.of(this.index, ...participants);
    const tag = `cosigner/opening/${purpose}`;
    const statement = taggedHash(tag, hexToBytes(protocol), context, path, hexToBytes(nonce), said);
    return { nonce, opening: Buffer.concat([said, await signAsCosigner(this.#own, statement)]).toString('base64') };
  }

  #prepare(kind: string, name: string, fields: Readonly<Record<string, unknown>>): SessionPlan {
    const [own, peers] = [this.#own, this.#peers];
    if (kind === 'pair') {
      const peer = party(Number.parseInt(name, 10));
      return preparePairing({ self: this.index, peer, store: async (setup) => void this.#pairs.set(peer, setup) });
    }
    if (kind === 'keygen') {
      const { scheme } = fields as unknown as Pick<KeyRequest, 'scheme'>;
      const parties = this.#parties();
      return prepareKeyGeneration({
        scheme,
        own,
        peers,
        parties,
        policy: this.inForce,
        store: async (share) => {
          this.#shares.set(share.keyId, share);
          return null;
        },
      });
    }
    if (kind === 'reshare') {
      const request = resharingRequestOf(fields);
      const { scheme, epoch, dealers, publicShares } = request;
      const threshold = dealers.length;
      const parties = this.#parties();
      const context = resharingContext(name, request, parties);
      const origin = {
        keyId: name,
        epoch,
        dealers,
        publicShares,
        share: this.#shares.get(name) ?? null,
        confirming: () => {},
      };
      const store = async (share: KeyShare) => {
        this.#shares.set(`${name} ${epoch}`, share);
        return null;
      };
      return prepareDealing({ purpose: 'reshare', context, scheme, own, peers, parties, threshold, origin, store });
    }
    const { signers, messages, occasion } = kind === 'proof' ? proofOf(name, fields) : this.#occasionOf(fields);
    const session = {
      share: present(this.#shares.get(name)),
      signers,
      messages,
      occasion,
      commitTo: () => null,
      stillAllowed: async () => true,
    };
    return prepareSigning(session, this.#pairs);
  }

  async #start({ nonces, openings }: Invitation): Promise<unknown> {
    const { preparation, protocol, ephemeral } = present(this.#opened.get(nonces[String(this.index)] ?? ''));
    const { participants, purpose, context, begin } = preparation;
    const saidBy = (one: PartyIndex) =>
      Uint8Array.from(Buffer.from(openings[String(one)] ?? '', 'base64')).slice(0, -64);
    const parts = participants.flatMap((one) => [hexToBytes(nonces[String(one)] ?? ''), saidBy(one)]);
    const tag = `cosigner/sid/${purpose}`;
    const sid = taggedHash(tag, hexToBytes(protocol), context, Uint8Array.from(participants), ...parts);
    const channels = new Map<PartyIndex, Channel>();
    const inbox = new Map<PartyIndex, Uint8Array>();
    for (const one of participants.filter((peer) => peer !== this.index)) {
      const said = saidBy(one);
      const session = { sid, ephemeral, peerKey: said.slice(0, EXCHANGE_KEY_BYTES) };
      channels.set(one, present(await openChannel(this.#own, present(this.#peers.get(one)), session)));
      inbox.set(one, said.slice(EXCHANGE_KEY_BYTES));
    }
    const session: Session = { purpose, channels, round: 1, next: begin(sid) };
    this.#sessions.set(bytesToHex(sid), session);
    return this.#run(session, sid, inbox);
  }

  async #round({ sid: text, round, envelopes }: RoundBody): Promise<unknown> {
    const session = present(this.#sessions.get(text));
    const inbox = new Map<PartyIndex, Uint8Array>();
    for (const [from, envelope] of Object.entries(envelopes)) {
      const peer = present(parsePartyIndex(Number.parseInt(from, 10)));
      const channel = present(session.channels.get(peer));
      const opened = await openEnvelope(present(this.#peers.get(peer)), channel, { round: round - 1, bytes: envelope });
      inbox.set(peer, present(opened));
    }
    session.round = round;
    return this.#run(session, hexToBytes(text), inbox);
  }

  async #run(session: Session, sid: Uint8Array, inbox: ReadonlyMap<PartyIndex, Uint8Array>): Promise<unknown> {
    const { step, next } = await present(session.next).run(inbox);
    session.next = next;
    if (step.type === 'abort') throw new Error(step.abort.step);
    if (step.type === 'result') return { sid: bytesToHex(sid), result: step.result };
    const envelopes: Record<string, Uint8Array> = {};
    for (const [peer, message] of step.messages) {
      const { purpose, round } = session;
      const body = this.lie(Uint8Array.from(message), { purpose, round });
      envelopes[String(peer)] = await sealEnvelope(this.#own, present(session.channels.get(peer)), { round, body });
    }
    return { sid: bytesToHex(sid), envelopes };
  }
}

interface OpenBody {
  readonly protocol: string;
  readonly request: Readonly<Record<string, unknown>>;
}

interface Invitation {
  readonly nonces: Readonly<Record<string, string>>;
  readonly openings: Readonly<Record<string, string>>;
}

interface RoundBody {
  readonly sid: string;
  readonly round: number;
  readonly envelopes: Readonly<Record<string, Uint8Array>>;
}

interface SentRequest {
  /** Hex of its canonical bytes. */
  readonly intent: string;
  readonly payload: string;
  readonly attempt: number;
  readonly purpose: AttemptPurpose;
}

interface Occasion {
  readonly signers: readonly PartyIndex[];
  readonly messages: readonly Uint8Array[];
  readonly occasion: Uint8Array;
}

/** Returns the policy of a request, without its mandate: the puppet adopts any policy. */

function proofOf(keyId: string, fields: Readonly<Record<string, unknown>>): Occasion {
  const { signers } = fields as unknown as Pick<Occasion, 'signers'>;
  return { signers, messages: [keyProofDigest(keyId)], occasion: utf8ToBytes('conclave/key-proof/v1') };
}
