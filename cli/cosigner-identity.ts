import { readFileSync } from 'node:fs';
import { publicIdentity } from '#mpc/identity.ts';
import type { Command } from './command-line.ts';

const STANDARD_INPUT = 0;

/**
 * Prints the public keys of an identity secret. The secret is on standard input, so that no list of
 * processes shows it.
 */
export const cosignerIdentityCommand: Command = {
  usage: '  npm run --silent conclave -- cosigner-identity < SECRET_FILE     the secret is 64 hexadecimal digits',
  run: async () => {
    const secret = readFileSync(STANDARD_INPUT, 'utf8').trim();
    if (!/^[0-9a-f]{64}$/.test(secret))
      throw new Error('Provide the secret on standard input as 64 lower-case hexadecimal digits.');
    console.log(JSON.stringify(publicIdentity(secret)));
  },
};
