/**
 * Settings as TOML: tables of tables with texts, lists, numbers and switches, which is all that client settings need.
 *
 * @module
 */

/** Each server is a table of its own, as people write it: `[mcp_servers.skillcell]`. */
export function formatToml(settings: Record<string, Record<string, unknown>>): string {
  const tables = Object.entries(settings).flatMap(([key, servers]) =>
    Object.entries(servers).map(([name, server]) => formatTable([key, name], { ...(server as object) })),
  );
  return tables.join('\n');
}

function formatTable(path: readonly string[], table: Record<string, unknown>): string {
  const lines = Object.entries(table).map(([key, value]) => `${formatKey(key)} = ${formatValue(value)}\n`);
  return `[${path.map(formatKey).join('.')}]\n${lines.join('')}`;
}

function formatKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : formatText(key);
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return formatText(value);
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => `${formatKey(key)} = ${formatValue(item)}`);
    return `{ ${entries.join(', ')} }`;
  }
  throw new TypeError(`TOML has no ${typeof value}`);
}

/** The escapes of JSON are escapes of TOML; TOML also escapes DEL, and has no halves of surrogate pairs. */
function formatText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007f', String.raw`\u007f`);
}
