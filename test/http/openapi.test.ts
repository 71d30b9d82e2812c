import { expect, test } from 'vitest';
import { openApi } from '#http/encode/openapi.ts';

test('the document is the published one: a change of it is a change of the interface', async () => {
  await expect(`${JSON.stringify(openApi(), null, 2)}\n`).toMatchFileSnapshot('openapi.snapshot.json');
});
