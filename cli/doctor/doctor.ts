import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { visibleText } from '#domain/visible-text.ts';
import { unwrap } from '../api-client.ts';
import { RELEASE as APPROVAL_PAGE_RELEASE } from '../approval-page-release.ts';
import type { Command } from '../command-line.ts';
import { clientOf, EXIT_CODES, jsonText, UsageError } from '../command-line.ts';
import { checkCoordinator } from './coordinator-check.ts';
import { checkCosigner } from './cosigner-check.ts';
import { checkDeployment } from './deployment-check.ts';
import type { Finding } from './finding.ts';
import type { ReleaseFiles } from './outside-check.ts';
import { checkOutside } from './outside-check.ts';
import { checkRunning } from './running-check.ts';
import { isCosigner, readSecrets, readWorkerFile } from './worker-file.ts';

const OPTIONS = {
  config: { type: 'string', multiple: true },
  secrets: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/**
 * `doctor`: finds wrong settings before a deployment, and what is wrong with a running one. Prints
 * names and reasons, and no value of a setting. Exit code 0: no fault, maybe warnings. 1: at least
 * one fault. 2: invalid arguments.
 */
export const doctorCommand: Command = {
  usage: `  npm run conclave -- doctor --config FILE... [--json]               the settings of Workers, before a deployment
  npm run conclave -- doctor --config FILE --secrets FILE [--json]   also those that are secrets: a JSON object
  npm run conclave -- doctor [--json]                                the running service
For the running service set CONCLAVE_URL to its address and CONCLAVE_SERVICE_KEY to a service key with the scope status.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    const { config = [], secrets } = values;
    if (secrets !== undefined && config.length !== 1) throw new UsageError('Option --secrets needs one --config.');
    const findings = config.length === 0 ? await ofService() : ofFiles(config, secrets);
    console.log(values.json === true ? jsonText({ findings }) : textOf(findings));
    if (findings.some(({ level }) => level === 'fault')) process.exitCode = EXIT_CODES.failure;
  },
};

async function ofService(): Promise<readonly Finding[]> {
  const { api } = clientOf('CONCLAVE_SERVICE_KEY');
  const status = await unwrap(api.internal.status.$get());
  const { origin } = new URL(process.env['CONCLAVE_URL'] ?? '');
  return [...checkRunning(status, Date.now()), ...(await checkOutside(status, origin, releaseFiles()))];
}

/** Returns the files of the release that this checkout has. */
function releaseFiles(): ReleaseFiles {
  const file = (path: string) => readFileSync(resolve(import.meta.dirname, '..', '..', path), 'utf8');
  const { entries } = JSON.parse(file('migrations/meta/_journal.json')) as {
    readonly entries: { readonly tag: string }[];
  };
  return {
    approvalPage: readFileSync(APPROVAL_PAGE_RELEASE, 'utf8'),
    headers: file('src/approval-page/public/_headers'),
    newestMigration: `${entries.at(-1)?.tag ?? ''}.sql`,
  };
}

function ofFiles(paths: readonly string[], secretsPath: string | undefined): readonly Finding[] {
  const secrets = secretsPath === undefined ? null : readSecrets(secretsPath);
  const files = paths.map(readWorkerFile);
  const each = files.flatMap((file) =>
    isCosigner(file) ? checkCosigner(file, secrets) : checkCoordinator(file, secrets),
  );
  return [...each, ...checkDeployment(files)];
}

function textOf(findings: readonly Finding[]): string {
  const faults = findings.filter(({ level }) => level === 'fault').length;
  const lines = findings.map(({ level, part, name, detail }) => `${level.padEnd(7)}  ${part}: ${name}: ${detail}`);
  const sum = `${faults} faults, ${findings.length - faults} warnings`;
  return visibleText([...lines, sum].join('\n'), { linesStay: true });
}
