/**
 * The entry that a person pastes into the settings of a client.
 *
 * @module
 */
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../index.ts';

export const CLIENTS = ['claude', 'cursor', 'vscode'] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface ConfigOptions {
  /** What follows `skillcell`. */
  args: readonly string[];
  /** Where the server listens; absent: the client starts it. */
  url?: string;
  /** What it asks for; absent if it asks for none. */
  token?: string;
  /** Where this package lies. */
  root?: string;
}

/** Where the entry belongs. */
export const CONFIG_PLACES: Record<ClientName, string> = {
  claude: '.mcp.json of a project (Claude Code), or claude_desktop_config.json (Claude Desktop)',
  cursor: '.cursor/mcp.json of a project, or ~/.cursor/mcp.json',
  vscode: '.vscode/mcp.json of a project',
};

export function clientConfig(client: ClientName, options: ConfigOptions): Record<string, unknown> {
  const server = options.url === undefined ? started(client, options) : reached(options.url, options);
  return { [client === 'vscode' ? 'servers' : 'mcpServers']: { skillcell: server } };
}

function started(client: ClientName, { args, root }: ConfigOptions): Record<string, unknown> {
  return { ...(client === 'vscode' ? { type: 'stdio' } : {}), ...command(args, root) };
}

function reached(url: string, { token }: ConfigOptions): Record<string, unknown> {
  return {
    type: 'http',
    url,
    ...(token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }),
  };
}

/** Absolute: a client starts it from a folder and with a PATH of its own. */
function command(args: readonly string[], root: string = packageRoot()): { command: string; args: string[] } {
  // The cache of npx is emptied now and then; what lies in it is fetched again by npx alone.
  const isInCache = root.split(/[/\\]/).includes('_npx');
  if (isInCache) return { command: 'npx', args: ['-y', `skillcell@${packageVersion()}`, ...args] };
  return { command: process.execPath, args: [join(root, 'bin/skillcell.js'), ...args] };
}
