import { serve } from '#cosigner/app.ts';
import type { CosignerEnv } from '#cosigner/object.ts';

export { CosignerObject } from '#cosigner/object.ts';

export default { fetch: serve } satisfies ExportedHandler<CosignerEnv>;
