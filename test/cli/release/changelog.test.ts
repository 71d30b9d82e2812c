import { expect, test } from 'vitest';
import { changelogFaults } from '#cli/release/changelog.ts';

const OLDER = '## 0.1.0 (2026-01-02)\n\n- Vaults.\n';
const SECTION = '## 0.2.0 (2026-12-01)\n\n- Releases.\n\n';

test('a change log with the version above all older ones can be released', () => {
  expect(changelogFaults(`# Changelog\n\n${SECTION}${OLDER}`, '0.2.0')).toEqual([]);
  expect(changelogFaults(`# Changelog\n\n## Unreleased\n\n${SECTION}${OLDER}`, '0.2.0')).toEqual([]);
});

test('the error names the line that is missing, also where only the date is missing', () => {
  const fault = ['CHANGELOG.md lacks the line "## 0.2.0 (YYYY-MM-DD)"'];
  expect(changelogFaults(`# Changelog\n\n${OLDER}`, '0.2.0')).toEqual(fault);
  expect(changelogFaults('# Changelog\n', '0.2.0')).toEqual(fault);
  expect(changelogFaults(`# Changelog\n\n${SECTION.replace(' (2026-12-01)', '')}`, '0.2.0')).toEqual(fault);
  expect(changelogFaults(`# Changelog\n\n${SECTION.replace('0.2.0', '0.2.01')}`, '0.2.0')).toEqual(fault);
});

test('a section without text, or with headings alone, is refused', () => {
  const fault = ['CHANGELOG.md has no text below "## 0.2.0 (2026-12-01)"'];
  expect(changelogFaults(`# Changelog\n\n## 0.2.0 (2026-12-01)\n\n${OLDER}`, '0.2.0')).toEqual(fault);
  expect(changelogFaults(`# Changelog\n\n## 0.2.0 (2026-12-01)\n\n### Added\n\n${OLDER}`, '0.2.0')).toEqual(fault);
});

test('a section below an older one is refused', () => {
  expect(changelogFaults(`# Changelog\n\n${OLDER}\n${SECTION}`, '0.2.0')).toEqual([
    'CHANGELOG.md has "## 0.1.0 (2026-01-02)" above "## 0.2.0 (2026-12-01)"',
  ]);
});

test('text below Unreleased is refused wherever that section is', () => {
  const fault = ['CHANGELOG.md has text below "## Unreleased"; it belongs below "## 0.2.0 (YYYY-MM-DD)"'];
  expect(changelogFaults(`# Changelog\n\n## Unreleased\n\n- Late.\n\n${SECTION}`, '0.2.0')).toEqual(fault);
  expect(changelogFaults(`# Changelog\n\n${SECTION}## Unreleased\n\n- Late.\n`, '0.2.0')).toEqual(fault);
});
