/**
 * The entries for the settings of MCP clients, read back by a real parser of each format.
 */
import * as fc from 'fast-check';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { clientConfig, clientConfigText } from '../../src/mcp/client-config.ts';
import {
  MCP_CLIENT_NAMES,
  MCP_CLIENT_ROWS,
  type McpClientName,
  type SettingsFormat,
} from '../../src/vocabulary/mcp-clients.ts';

const PARSERS: Record<SettingsFormat, (text: string) => unknown> = {
  json: (text) => JSON.parse(text) as unknown,
  toml: parseToml,
  yaml: (text) => parseYaml(text) as unknown,
};

const ROOT = '/opt/with space/skillcell';
const ARGS = ['mcp', '--project', '/home/me/a "project"'];
const BIN = `${ROOT}/bin/skillcell.js`;
const NODE = process.execPath;
const STARTED = { command: NODE, args: [BIN, ...ARGS] };
const URL = 'http://127.0.0.1:8765/mcp';
const headers = { Authorization: 'Bearer abc' };
const goose = { name: 'skillcell', description: expect.any(String) as string, enabled: true, timeout: 300 };

/** What each client documents for a server that it starts, and for one that it reaches over HTTP. */
const DOCUMENTED: Record<McpClientName, { started: object; reached: object }> = {
  claude: {
    started: { mcpServers: { skillcell: STARTED } },
    reached: { mcpServers: { skillcell: { type: 'http', url: URL, headers } } },
  },
  cursor: {
    started: { mcpServers: { skillcell: STARTED } },
    reached: { mcpServers: { skillcell: { type: 'http', url: URL, headers } } },
  },
  vscode: {
    started: { servers: { skillcell: { type: 'stdio', ...STARTED } } },
    reached: { servers: { skillcell: { type: 'http', url: URL, headers } } },
  },
  codex: {
    started: { mcp_servers: { skillcell: STARTED } },
    reached: { mcp_servers: { skillcell: { url: URL, http_headers: headers } } },
  },
  gemini: {
    started: { mcpServers: { skillcell: STARTED } },
    reached: { mcpServers: { skillcell: { httpUrl: URL, headers } } },
  },
  opencode: {
    started: { mcp: { skillcell: { type: 'local', command: [NODE, BIN, ...ARGS], enabled: true } } },
    reached: { mcp: { skillcell: { type: 'remote', url: URL, headers, enabled: true } } },
  },
  windsurf: {
    started: { mcpServers: { skillcell: STARTED } },
    reached: { mcpServers: { skillcell: { serverUrl: URL, headers } } },
  },
  zed: {
    started: { context_servers: { skillcell: STARTED } },
    reached: { context_servers: { skillcell: { url: URL, headers } } },
  },
  goose: {
    started: {
      extensions: { skillcell: { ...goose, type: 'stdio', cmd: NODE, args: STARTED.args } },
    },
    reached: { extensions: { skillcell: { ...goose, type: 'streamable_http', uri: URL, headers } } },
  },
};

describe.each(MCP_CLIENT_NAMES)('the settings of %s', (client) => {
  const { format } = MCP_CLIENT_ROWS[client];
  const read = (options: Parameters<typeof clientConfigText>[1]): unknown =>
    PARSERS[format](clientConfigText(client, options));

  test(`start the server, as ${format}`, () => {
    expect(read({ args: ARGS, root: ROOT })).toEqual(DOCUMENTED[client].started);
  });

  test('reach a running server with its token', () => {
    expect(read({ args: ARGS, url: URL, token: 'abc' })).toEqual(DOCUMENTED[client].reached);
  });

  test('have no header without a token', () => {
    expect(clientConfigText(client, { args: ARGS, url: URL })).not.toMatch(/headers|Authorization/);
  });

  test('keep every argument, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), (args) => {
        const wellFormed = args.map((arg) => arg.toWellFormed());
        expect(read({ args: wellFormed, root: ROOT })).toEqual(
          clientConfig(client, { args: wellFormed, root: ROOT }),
        );
      }),
    );
  });
});
