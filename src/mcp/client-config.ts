/**
 * The entry that a person pastes into the settings of a client.
 *
 * @module
 */
import { join } from 'node:path';
import { stringify } from 'yaml';
import { packageRoot, packageVersion } from '../inside.ts';
import { MCP_CLIENT_ROWS, type McpClientName, type SettingsFormat } from '../vocabulary/mcp-clients.ts';
import { formatToml } from './toml.ts';

type Json = Record<string, unknown>;

export interface ConfigOptions {
  /** Arguments of `skillcell`. */
  args: readonly string[];
  /** Address of the server; absent if the client starts it. */
  url?: string;
  /** Absent if the server requires none. */
  token?: string;
  /** Folder of this package. */
  root?: string;
}

/** A server that the client starts. */
interface StdioServer {
  command: string;
  args: string[];
}

/** A server that is running. */
interface HttpServer {
  url: string;
  headers?: Record<string, string>;
}

/** How one client configures a server. */
interface ClientEntry {
  /** The key that holds all servers of the client. */
  key: string;
  stdio: (server: StdioServer) => Json;
  http: (server: HttpServer) => Json;
}

/** Goose requires these for every server. */
const GOOSE: Json = {
  name: 'skillcell',
  description: 'Skills, each call in a fresh sandbox',
  enabled: true,
  timeout: 300,
};

const ENTRIES: Readonly<Record<McpClientName, ClientEntry>> = {
  claude: { key: 'mcpServers', stdio: (server) => ({ ...server }), http: withType('http') },
  cursor: { key: 'mcpServers', stdio: (server) => ({ ...server }), http: withType('http') },
  vscode: { key: 'servers', stdio: withType('stdio'), http: withType('http') },
  codex: {
    key: 'mcp_servers',
    stdio: (server) => ({ ...server }),
    http: ({ url, headers }) => ({ url, ...(headers ? { http_headers: headers } : {}) }),
  },
  gemini: {
    key: 'mcpServers',
    stdio: (server) => ({ ...server }),
    // In Gemini's settings, `url` means the older SSE transport.
    http: ({ url, ...rest }) => ({ httpUrl: url, ...rest }),
  },
  opencode: {
    key: 'mcp',
    stdio: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
    http: (server) => ({ type: 'remote', ...server, enabled: true }),
  },
  windsurf: {
    key: 'mcpServers',
    stdio: (server) => ({ ...server }),
    http: ({ url, ...rest }) => ({ serverUrl: url, ...rest }),
  },
  zed: { key: 'context_servers', stdio: (server) => ({ ...server }), http: (server) => ({ ...server }) },
  goose: {
    key: 'extensions',
    stdio: ({ command, args }) => ({ ...GOOSE, type: 'stdio', cmd: command, args }),
    http: ({ url, ...rest }) => ({ ...GOOSE, type: 'streamable_http', uri: url, ...rest }),
  },
};

const WRITERS: Readonly<Record<SettingsFormat, (settings: Record<string, Json>) => string>> = {
  json: (settings) => `${JSON.stringify(settings, null, 2)}\n`,
  toml: formatToml,
  // Without folding, so that paths stay on one line.
  yaml: (settings) => stringify(settings, { lineWidth: 0 }),
};

/** The entry as plain data. */
export function clientConfig(client: McpClientName, options: ConfigOptions): Record<string, Json> {
  const { key, stdio, http } = ENTRIES[client];
  const { url, token, args, root } = options;
  const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  const server = url === undefined ? stdio(command(args, root)) : http({ url, ...headers });
  return { [key]: { skillcell: server } };
}

/** The entry as text, in the format of the client's settings. */
export function clientConfigText(client: McpClientName, options: ConfigOptions): string {
  return WRITERS[MCP_CLIENT_ROWS[client].format](clientConfig(client, options));
}

function withType(type: string): (server: StdioServer | HttpServer) => Json {
  return (server) => ({ type, ...server });
}

/** Absolute paths, because a client has its own working directory and PATH. */
function command(args: readonly string[], root: string = packageRoot()): StdioServer {
  // The npx cache is temporary, and only npx can restore what was in it.
  const isInCache = root.split(/[/\\]/).includes('_npx');
  if (isInCache) return { command: 'npx', args: ['-y', `skillcell@${packageVersion()}`, ...args] };
  return { command: process.execPath, args: [join(root, 'bin/skillcell.js'), ...args] };
}
