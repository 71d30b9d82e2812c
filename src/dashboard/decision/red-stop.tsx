/**
 * Shows a detected attack. There is no button to try again: an honest service does not reach this,
 * and a hostile one would answer the second time as it should have the first time.
 */
export function RedStop({ why }: { readonly why: string }) {
  return (
    <div class="stop" role="alert">
      <h2>Do not approve</h2>
      <p>{why}</p>
      <p>
        This dashboard comes from the service that contradicts itself, so do not trust what it shows. Call the other
        signers and the operator of the co-signers, by telephone or in person, before you approve anything.
      </p>
    </div>
  );
}
