import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the identity secrets of all co-signers of a local deployment, in order. @param folder
 * where the deployment was configured
 */
export function identitySecretsIn(folder: string): readonly string[] {
  const { cosigners } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as {
    readonly cosigners: readonly { readonly identity: string }[];
  };
  return cosigners.map(({ identity }) => identity);
}
