/**
 * Returns the share of ordinary log lines that is written, from 0 to 1, by the setting LOG_SHARE:
 * none when it is empty. Throws for any other form.
 */
export function logShare(setting: string | undefined): number {
  const text = setting?.trim() ?? '';
  if (text === '') return 0;
  if (!/^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/.test(text)) throw new Error('LOG_SHARE must be a number from 0 to 1.');
  return Number.parseFloat(text);
}
