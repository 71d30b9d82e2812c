/** What was typed into the fields of a form that is sent; empty where there is nothing. The page stays where it is. */
export function typedValue(event: SubmitEvent): (name: string) => string {
  event.preventDefault();
  const fields = new FormData(event.currentTarget as HTMLFormElement);
  return (name) => {
    const typed = fields.get(name);
    return typeof typed === 'string' ? typed : '';
  };
}
