/**
 * What a skill in AssemblyScript needs: JSON in, and the door to Skillcell. Each call runs in a fresh instance, so
 * nothing is ever freed.
 */

/** Where the host puts the parameters. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  const fresh = heap.alloc(size);
  if (oldSize > 0) memory.copy(fresh, old, min(oldSize, size));
  return fresh;
}

/** A result as the host reads it: which of the two, where, how long. */
export function leak(failed: bool, text: string): usize {
  const bytes = String.UTF8.encode(text);
  const result = heap.alloc(12);
  store<u32>(result, failed ? 1 : 0);
  store<u32>(result, changetype<usize>(bytes) as u32, 4);
  store<u32>(result, bytes.byteLength as u32, 8);
  return result;
}

export function parameters(at: usize, length: usize): string {
  return String.UTF8.decodeUnsafe(at, length);
}

/** A member of an object that is a string, or null. Valid JSON only, which is all that Skillcell hands over. */
export function stringOf(object: string, name: string): string | null {
  const raw = member(object, name);
  if (!raw.startsWith('"')) return null;
  const parts: string[] = [];
  let from = 1;
  for (let at = 1; at < raw.length - 1; at++) {
    if (raw.charCodeAt(at) != 0x5c) continue;
    parts.push(raw.substring(from, at));
    const kind = raw.charCodeAt(at + 1);
    const isUnit = kind == 0x75;
    parts.push(String.fromCharCode(isUnit ? (parseInt(raw.substr(at + 2, 4), 16) as i32) : plainEscape(kind)));
    at += isUnit ? 5 : 1;
    from = at + 1;
  }
  parts.push(raw.substring(from, raw.length - 1));
  return parts.join('');
}

/** A member of an object that is a whole number, or what to take without one. */
export function integerOf(object: string, name: string, otherwise: i32): i32 {
  const raw = member(object, name);
  return raw.length > 0 ? I32.parseInt(raw) : otherwise;
}

function plainEscape(kind: i32): i32 {
  switch (kind) {
    case 0x62: // b
      return 8;
    case 0x66: // f
      return 12;
    case 0x6e: // n
      return 10;
    case 0x72: // r
      return 13;
    case 0x74: // t
      return 9;
    default:
      return kind;
  }
}

/** The value of a member as it stands in the JSON; empty when there is none. */
function member(object: string, name: string): string {
  const key = '"' + name + '"';
  let at = object.indexOf('{') + 1;
  while (at < object.length) {
    const colon = endOfValue(object, at);
    const end = endOfValue(object, colon + 1);
    if (object.substring(at, colon).trim() == key) return object.substring(colon + 1, end).trim();
    at = end + 1;
  }
  return '';
}

/** Commas and brackets inside of strings and of inner values are skipped with them. */
function endOfValue(json: string, start: i32): i32 {
  let depth = 0;
  let quoted = false;
  let at = start;
  for (; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (quoted && code == 0x5c) at++;
    else if (code == 0x22) quoted = !quoted;
    else if (quoted) continue;
    else if (code == 0x7b || code == 0x5b) depth++;
    else if (depth == 0 && (code == 0x2c || code == 0x3a || code == 0x7d || code == 0x5d)) break;
    else if (code == 0x7d || code == 0x5d) depth--;
  }
  return at;
}
