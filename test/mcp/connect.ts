/**
 * A client that is connected to a server in this process.
 *
 * @module
 */
import { InMemoryTransport, type Client } from '@modelcontextprotocol/client';
import type { SkillServer } from '../../src/mcp/skill-server.ts';
import { removeFolder } from '../write-skill.ts';
import { clientOf } from './project.ts';

export async function connectTo(server: SkillServer): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = clientOf('2025-11-25');
  await server.open().connect(ours);
  await client.connect(theirs);
  return client;
}

/** Closes these in their order, and then removes the folder. */
export async function closeAll(
  parts: readonly { close(): Promise<unknown> }[],
  folder: string,
): Promise<void> {
  for (const part of parts) await part.close();
  removeFolder(folder);
}
