/** A warning for signers. Codes are for programs and form an open set; details are for users. */
export interface Warning {
  readonly code: string;
  readonly detail: string;
}
