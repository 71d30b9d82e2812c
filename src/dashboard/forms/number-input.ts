/**
 * Returns a reader of the fields of the submitted form. An empty field reads as an empty text. The
 * page does not reload.
 */
export function typedValue(event: SubmitEvent): (name: string) => string {
  event.preventDefault();
  const fields = new FormData(event.currentTarget as HTMLFormElement);
  return (name) => {
    const typed = fields.get(name);
    return typeof typed === 'string' ? typed : '';
  };
}
