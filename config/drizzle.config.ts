import { defineConfig } from 'drizzle-kit';

/** `npm run migration` writes the next migration from the schema. */
export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/store/schema.ts', './src/store/operations/schema.ts', './src/store/notifications/schema.ts'],
  out: './migrations',
});
