/** A fault in one part of a request. */
export interface FieldFault {
  /** JSON pointer into the body, or the name of the parameter. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}
