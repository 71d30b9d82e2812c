import { holdSources, RUN_SOURCES } from './sources.ts';

/** Runs before each test file, which reads the sources now. The run bundled them at its start. */
holdSources(process.env[RUN_SOURCES]);
