interface Section {
  readonly title: string;
  /** The text below the title, without headings. */
  readonly text: string;
}

/**
 * Returns what CHANGELOG.md lacks for the release of a version: `## 1.2.3 (2026-12-01)` with text
 * below it, before all other releases, and nothing below `## Unreleased`.
 */
export function changelogFaults(changelog: string, version: string): readonly string[] {
  const sections = sectionsOf(changelog);
  const releases = sections.filter(({ title }) => title !== 'Unreleased');
  const line = `"## ${version} (YYYY-MM-DD)"`;
  const section = releases.find(
    ({ title }) => title.startsWith(`${version} `) && /^\S+ \(\d{4}-\d\d-\d\d\)$/.test(title),
  );
  const newest = releases[0];
  const faults: string[] = [];
  if (section === undefined) faults.push(`CHANGELOG.md lacks the line ${line}`);
  else if (section.text === '') faults.push(`CHANGELOG.md has no text below "## ${section.title}"`);
  if (section !== undefined && newest !== undefined && newest !== section) {
    faults.push(`CHANGELOG.md has "## ${newest.title}" above "## ${section.title}"`);
  }
  if (sections.some(({ title, text }) => title === 'Unreleased' && text !== '')) {
    faults.push(`CHANGELOG.md has text below "## Unreleased"; it belongs below ${line}`);
  }
  return faults;
}

function sectionsOf(changelog: string): readonly Section[] {
  const [, ...parts] = changelog.split(/^## /m);
  return parts.map((part) => {
    const [title = '', ...lines] = part.split('\n');
    const text = lines.filter((line) => !line.startsWith('#')).join('\n');
    return { title: title.trim(), text: text.trim() };
  });
}
