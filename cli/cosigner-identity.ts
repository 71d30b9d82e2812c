import { readFileSync } from 'node:fs';
import { publicIdentity } from '#mpc/identity.ts';
import { runCommand } from './command-line.ts';

/** `npm run identity`: the public keys that follow from an identity secret, 32 bytes in hex on standard input, where no list of processes shows it. */

const STANDARD_INPUT = 0;

await runCommand(async () => {
  const secret = readFileSync(STANDARD_INPUT, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('give the secret, 64 digits of hex, on standard input');
  console.log(JSON.stringify(publicIdentity(secret)));
});
