import { serve } from '#cosigner/api/app.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';

export { CosignerObject } from '#cosigner/api/object.ts';

export default { fetch: serve } satisfies ExportedHandler<CosignerEnv>;
