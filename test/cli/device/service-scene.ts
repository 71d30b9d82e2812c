import { spawn } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { PolicyLinkBytes } from '#devices/policy-links.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';

/** The parts of a service of an attacker, which answers a device as a test sets it. */

export const CHAIN = 'eip155:31337';

/** Returns a key of a vault in the format of the API, with the wallet that belongs to it. */
export function newKey() {
  const publicKey = secp256k1.keygen().publicKey;
  const scheme = 'ecdsa-secp256k1' as const;
  const address = addressOn(CHAIN, scheme, publicKey);
  if (address === null) throw new Error('the key has an address');
  return {
    keyId: keyIdOf(scheme, publicKey),
    scheme,
    publicKey: bytesToHex(publicKey),
    wallet: { chain: CHAIN, address },
  };
}

/** Returns an adopted policy in the format of the API. */
export function adopted({ policy, mandate }: PolicyLinkBytes, i: number) {
  const approvals = (mandate?.approvals ?? []).map(({ actor, digest, device }) => ({
    userId: actor.userId,
    digest,
    device: device && {
      keyId: device.keyId,
      signature: device.signature,
      authenticatorData: device.assertion?.authenticatorData ?? null,
      clientDataJSON: device.assertion?.clientDataJson ?? null,
    },
  }));
  return {
    policy: { version: i + 1, canonical: bytesToHex(policy) },
    mandate: mandate === null ? null : { canonical: bytesToHex(mandate.bytes), approvals },
  };
}

export interface Service {
  readonly url: string;
  readonly stop: () => void;
}

/** Serves the answers of a test as JSON, on loopback. */
export async function serve(answerTo: (request: IncomingMessage) => unknown): Promise<Service> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answerTo(request)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

/**
 * The question of the command, also where line editing adds a sequence that moves the cursor.
 */

const PROMPT = /Type [a-z0-9 ]+: (?:\P{L}\[[0-9]+G)?$/u;

/**
 * Runs `conclave` in a pseudo terminal, types `answer` at its question, and returns everything that
 * the terminal received until the question.
 */
export function shownInTerminal(
  words: readonly string[],
  { env, answer }: { readonly env: Readonly<Record<string, string>>; readonly answer: string },
): Promise<string> {
  const quoted = [process.execPath, 'cli/conclave.ts', ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qfec', quoted, '/dev/null'], { env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    let received = '';
    let question: string | null = null;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      if (question !== null || !PROMPT.test(received)) return;
      question = received;
      child.stdin.write(`${answer}\n`);
    });
    child.on('error', reject);
    child.on('close', () => {
      if (question === null) reject(new Error(`The command did not reach its question: ${received}`));
      else resolve(question);
    });
  });
}
