import * as z from 'zod';
import { isSecureAddress } from '#domain/secure-address.ts';
import { settingValue } from '#notifications/setting-value.ts';

const address = z.url().refine((text) => isSecureAddress(text), 'Must be https, or http of this machine.');

/** What every form may have. */
const common = {
  /** The name of this deployment, for receivers of several. */
  source: z.string().min(1).max(100).default('conclave'),
  /** The address of the runbook that the operator reads, without a fragment. */
  runbook: address.optional(),
};

/** A secret of Standard Webhooks: 24 to 64 bytes. */
const secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/);

const settings = z.discriminatedUnion('form', [
  z.strictObject({ form: z.literal('json'), url: address, secrets: z.array(secret).min(1).max(3), ...common }),
  z.strictObject({
    form: z.literal('pagerduty'),
    url: address.default('https://events.pagerduty.com/v2/enqueue'),
    routingKey: z.string().regex(/^[A-Za-z0-9]{32}$/),
    ...common,
  }),
  z.strictObject({ form: z.literal('slack'), url: address, ...common }),
]);

/** The receiver of alerts, and the form that it takes them in. */
export type AlertSettings = z.infer<typeof settings>;

/**
 * Returns the ALERT_WEBHOOK setting, or null when it is empty. Throws for any other form, without
 * the setting's content.
 */
export function alertSettings(setting: string | undefined): AlertSettings | null {
  return settingValue('ALERT_WEBHOOK', settings, setting);
}
