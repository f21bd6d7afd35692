/**
 * The MCP clients that `skillcell mcp --print-config` knows: the format of their settings, and where these are.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

/** The file formats of client settings. */
export type SettingsFormat = 'json' | 'toml' | 'yaml';

interface McpClientRow {
  format: SettingsFormat;
  /** The file that the entry belongs in. */
  place: string;
}

const MCP_CLIENTS = {
  claude: {
    format: 'json',
    place: '.mcp.json of a project (Claude Code), or claude_desktop_config.json (Claude Desktop)',
  },
  cursor: { format: 'json', place: '.cursor/mcp.json of a project, or ~/.cursor/mcp.json' },
  vscode: { format: 'json', place: '.vscode/mcp.json of a project' },
  codex: { format: 'toml', place: '~/.codex/config.toml, or .codex/config.toml of a trusted project' },
  gemini: { format: 'json', place: '~/.gemini/settings.json, or .gemini/settings.json of a project' },
  opencode: { format: 'json', place: 'opencode.json of a project, or ~/.config/opencode/opencode.json' },
  windsurf: { format: 'json', place: '~/.codeium/windsurf/mcp_config.json' },
  zed: { format: 'json', place: '~/.config/zed/settings.json, or .zed/settings.json of a project' },
  goose: { format: 'yaml', place: '~/.config/goose/config.yaml' },
} as const;

/** An MCP client whose settings format is known. */
export type McpClientName = keyof typeof MCP_CLIENTS;

export const MCP_CLIENT_ROWS: Readonly<Record<McpClientName, McpClientRow>> = MCP_CLIENTS;

export const MCP_CLIENT_NAMES: Choices<McpClientName> = choicesIn(MCP_CLIENTS);
