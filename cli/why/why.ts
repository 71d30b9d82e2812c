import { parseArgs } from 'node:util';
import { visibleText } from '#domain/visible-text.ts';
import { unwrap } from '../api-client.ts';
import type { Command } from '../command-line.ts';
import { clientOf, UsageError } from '../command-line.ts';
import { explanationOf } from './explanation.ts';

/** `why TX`: states in sentences what a transaction waits for. */
export const whyCommand: Command = {
  usage: `  npm run conclave -- why TRANSACTION
Set CONCLAVE_URL to the address of the service and CONCLAVE_SERVICE_KEY to a service key with the scope status.`,
  run: async (args) => {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
    const [txId, ...more] = positionals;
    if (txId === undefined || more.length > 0) throw new UsageError('Name one transaction.');
    const { internal } = clientOf('CONCLAVE_SERVICE_KEY').api;
    const progress = await unwrap(internal.transaction[':txId'].$get({ param: { txId } }));
    const status = await unwrap(internal.status.$get());
    console.log(visibleText(explanationOf(progress, status, Date.now()).join('\n'), { linesStay: true }));
  },
};
