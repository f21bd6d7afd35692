/**
 * Versions as semver.org defines them, to find newer ones and to refuse older ones. Other tags, such as `latest`, have no
 * order.
 *
 * @module
 */

export interface Version {
  /** Major, minor, patch. Big, because hostile numbers must not round to equal ones. */
  numbers: readonly [bigint, bigint, bigint];
  /** What follows `-`, such as `['rc', '1']`; empty for a release. */
  pre: readonly string[];
}

const NUMBER = '(0|[1-9][0-9]{0,19})';
const IDENTIFIERS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const SHAPE = new RegExp(`^v?${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?$`);
const MAX_LENGTH = 200;

/** Undefined if the text is not a version. A leading `v` is common in tags. */
export function parseVersion(text: string): Version | undefined {
  const found = text.length > MAX_LENGTH ? null : SHAPE.exec(text);
  if (!found) return undefined;
  const [, major = '', minor = '', patch = '', pre] = found;
  const parts = pre?.split('.') ?? [];
  // Numbers in a prerelease have no leading zeros either.
  if (parts.some((part) => /^0[0-9]+$/.test(part))) return undefined;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], pre: parts };
}

/** Negative if `one` is older, zero if both have the same rank. */
function compareVersions(one: Version, other: Version): number {
  for (const [at, number] of one.numbers.entries()) {
    const rest = other.numbers[at] ?? 0n;
    if (number !== rest) return number < rest ? -1 : 1;
  }
  // A release is newer than its prereleases.
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  return comparePre(one.pre, other.pre);
}

function comparePre(one: readonly string[], other: readonly string[]): number {
  for (const [at, part] of one.entries()) {
    const rest = other[at];
    if (rest === undefined) return 1;
    const order = compareParts(part, rest);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function compareParts(one: string, other: string): number {
  if (one === other) return 0;
  const [isNumber, isOther] = [one, other].map((part) => /^[0-9]+$/.test(part));
  if (isNumber && isOther) return BigInt(one) < BigInt(other) ? -1 : 1;
  // Numbers come before words.
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return one < other ? -1 : 1;
}

/**
 * Is `next` certainly older than `before`? Texts without an order are not. Versions that are not quite those of semver.org
 * are compared by their numbers, because an older one must not get by with a missing or an additional part.
 */
export function isOlder(next: string | undefined, before: string | undefined): boolean {
  const [one, other] = [parseVersion(next ?? ''), parseVersion(before ?? '')];
  if (one && other) return compareVersions(one, other) < 0;
  const [loose, otherLoose] = [looseNumbers(next ?? ''), looseNumbers(before ?? '')];
  if (!loose || !otherLoose) return false;
  // What one of them leaves out, as "v2" does, can be any number.
  const at = loose.findIndex((number, index) => number !== (otherLoose[index] ?? number));
  return at !== -1 && (loose[at] ?? 0n) < (otherLoose[at] ?? 0n);
}

/** The numbers at the start of `1.0`, `V01.2.3.4` or `2.0rc1`; undefined for a commit and for words. */
function looseNumbers(text: string): bigint[] | undefined {
  const found =
    text.length > MAX_LENGTH ? null : /^v?(\d+(?:\.\d+)*)(?:[-+_].*|(?<=\.\d+)[a-z].*)?$/i.exec(text);
  return found?.[1]?.split('.').map(BigInt);
}

/** The highest release. Prereleases are used only if they are named. */
export function newestRelease(offered: readonly string[]): string | undefined {
  return ranked(offered).find(({ version }) => version.pre.length === 0)?.text;
}

/** The newest version that is newer than the present one. Prereleases count only for those who use one. */
export function newestAfter(present: string, offered: readonly string[]): string | undefined {
  const now = parseVersion(present);
  if (!now) return undefined;
  return ranked(offered).find(
    ({ version }) => (version.pre.length === 0 || now.pre.length > 0) && compareVersions(version, now) > 0,
  )?.text;
}

/** The versions among these texts, the newest first. */
function ranked(offered: readonly string[]): { text: string; version: Version }[] {
  return offered
    .flatMap((text) => {
      const version = parseVersion(text);
      return version ? [{ text, version }] : [];
    })
    .toSorted((a, b) => compareVersions(b.version, a.version));
}
