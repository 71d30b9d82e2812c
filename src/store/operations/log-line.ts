import { logShare } from '#domain/operations/log-share.ts';

/** Of a coordinator or a co-signer. */
interface Environment {
  readonly LOG_SHARE?: string;
}

/**
 * Reports whether a line about ordinary work is logged.
 *
 * @param always whether the share does not matter
 */
export function isLogged(env: Environment, { always = false }: { readonly always?: boolean } = {}): boolean {
  const share = shareOf(env);
  return share !== null && (always || (share > 0 && Math.random() < share));
}

/** Returns null without the setting, and with one that is refused: the status names that. */
function shareOf({ LOG_SHARE }: Environment): number | null {
  if (LOG_SHARE === undefined || LOG_SHARE === '') return null;
  try {
    return logShare(LOG_SHARE);
  } catch {
    return null;
  }
}

/** Logs one line. It has ids, and no amounts, addresses or texts of people. */
export function logLine(
  line: { readonly event: 'request' | 'job' | 'state' } & Readonly<Record<string, unknown>>,
): void {
  console.log(JSON.stringify(line));
}
