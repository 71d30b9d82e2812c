import type { Alert } from '#domain/operations/alert.ts';

/** Why a setting is refused. */
export interface SettingFault {
  readonly name: string;
  /** Names the setting, and has no part of its value. */
  readonly fault: string;
}

/**
 * Returns the fault of the setting that the message of an error begins with, or null. Only such a
 * message is known to have no part of a value: one of a library may quote it.
 */
export function settingFaultIn(error: unknown): SettingFault | null {
  const fault = error instanceof Error ? error.message : '';
  const [name] = /^[A-Z][A-Z_]+\b/.exec(fault) ?? [];
  return name === undefined ? null : { name, fault };
}

/** Settings of another Worker, which this one must not have. */
export interface ForeignSettings {
  readonly names: readonly string[];
  readonly fault: (name: string) => string;
}

/** Throws the fault of the first foreign setting that is set. */
export function refuseForeign(settings: object, { names, fault }: ForeignSettings): void {
  const foreign = names.find((name) => name in settings);
  if (foreign !== undefined) throw new Error(fault(foreign));
}

/**
 * Returns the settings that their checks refuse, and those that must not be set at this Worker,
 * each one once.
 *
 * @param checks each throws for a wrong setting
 */
export function settingFaultsBy<Settings extends object>(
  settings: Settings,
  checks: Readonly<Record<string, (settings: Settings) => unknown>>,
  foreign: ForeignSettings,
): readonly SettingFault[] {
  const wrong = Object.entries(checks).flatMap(([name, check]): readonly SettingFault[] => {
    try {
      check(settings);
      return [];
    } catch (error) {
      // One check reads further settings, and the message names the wrong one.
      return [settingFaultIn(error) ?? { name, fault: `${name} is not valid.` }];
    }
  });
  const others = foreign.names.filter((name) => name in settings);
  const faults = [...wrong, ...others.map((name) => ({ name, fault: foreign.fault(name) }))];
  return [...new Map(faults.map((one) => [one.name, one])).values()];
}

/** Returns the one alert of the settings that are refused. */
export function alertsOfSettings(faults: readonly SettingFault[]): readonly Alert[] {
  if (faults.length === 0) return [];
  const names = faults.map(({ name }) => name).join(', ');
  return [
    { code: 'setting-invalid', subject: names, detail: `Settings of the coordinator that are refused: ${names}.` },
  ];
}
