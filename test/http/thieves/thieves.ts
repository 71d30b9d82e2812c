/**
 * What each thief can do at most, and who stops the thief. The threat model has the table, and
 * `thieves.worker.test.ts` plays each of its rows.
 */

interface Thief {
  readonly has: string;
  readonly inTokenMode: string;
  readonly inDeviceMode: string;
  /** Who stops the thief, and how. Each alone is enough. */
  readonly stops: Readonly<Record<string, string>>;
}

/** The rows of the table, by the name of the thief. */
const THIEVES = {
  token: {
    has: 'One access token of a signer.',
    inTokenMode:
      'approves once on each transaction and policy change, rejects once, creates what others approve, and cancels one credential reset in 90 days',
    inDeviceMode: 'creates what others approve, and cancels one credential reset in 90 days',
    stops: {
      owner: 'deletes the token after a login',
      admin: 'of the vault disables the signer in the vault',
      operator: 'ends the token or disables the person',
      signers: 'adopt a policy that excludes the signer',
    },
  },
  signer: {
    has: 'The token and the device of one signer.',
    inTokenMode: 'does the same',
    inDeviceMode: 'does what one token does in token mode',
    stops: {
      admin: 'of the vault disables the signer in the vault',
      operator: 'disables the person',
      signers: 'adopt a policy that excludes the signer',
    },
  },
  admin: {
    has: 'The token of an admin.',
    inTokenMode:
      'cancels pending transactions and the policy changes of members who are no signers, and disables members; a quorum of signers always stays',
    inDeviceMode: 'does the same',
    stops: {
      signers: 'adopt a policy that excludes the admin',
      operator: 'removes the roles or disables the person',
    },
  },
  'service-key': {
    has: 'A service key with every scope.',
    inTokenMode:
      'creates vaults that a member must accept, adds members without the role of a signer, proposes two policy changes, disables persons, and requests credential resets that take effect after the delay',
    inDeviceMode: 'does the same, and new credentials approve nothing without a device',
    stops: {
      operator: 'removes the key from `SERVICE_KEY_HASHES`',
      member: 'cancels the credential reset',
      signers: 'adopt a policy that excludes the added member',
    },
  },
  quorum: {
    has: 'Access tokens of as many signers as approve.',
    inTokenMode: 'does everything that the policy permits, and adopts a new policy',
    inDeviceMode: 'creates what others approve',
    stops: {
      owners: 'delete their tokens after a login',
      operator: 'disables the persons',
    },
  },
} as const satisfies Readonly<Record<string, Thief>>;

export type ThiefName = keyof typeof THIEVES;
export type StopperOf<T extends ThiefName> = keyof (typeof THIEVES)[T]['stops'] & string;

/** Each thief with each party that stops it. */
export const STOPS: readonly (readonly [thief: ThiefName, stopper: string])[] = Object.entries(THIEVES).flatMap(
  ([thief, { stops }]) => Object.keys(stops).map((stopper) => [thief as ThiefName, stopper] as const),
);

/** Returns the rows as items of a document, before they are wrapped. */
export function thiefRows(): string {
  const rows = Object.values(THIEVES).map(({ has, inTokenMode, inDeviceMode, stops }: Thief) => {
    const by = Object.entries(stops).map(([who, how]) => `the ${who} ${how}`);
    const does = `In token mode it ${inTokenMode}. In device mode it ${inDeviceMode}.`;
    return `- **${has}** ${does} Stopped by any of: ${by.join('; ')}.`;
  });
  return rows.join('\n');
}
