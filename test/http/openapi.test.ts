import { expect, test } from 'vitest';
import { openApi } from '#http/encode/openapi.ts';

test('the OpenAPI document equals the published one', async () => {
  await expect(`${JSON.stringify(openApi(), null, 2)}\n`).toMatchFileSnapshot('openapi.snapshot.json');
});
