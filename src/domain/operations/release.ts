/** The release of these sources, equal to the version in package.json. */
export const RELEASE = '0.2.0';
