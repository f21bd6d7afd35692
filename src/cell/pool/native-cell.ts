/**
 * Starts native cells with their gateway, if they may reach hosts, and placeholders for their secrets. Both are created
 * before the process, because a cell may be started before its call.
 *
 * @module
 */
import { createFaultOwner, createFaultOwnerAsync } from '../../fault-owner.ts';
import type { StartKind } from '../../outcome.ts';
import { hasGateway } from '../../policy/grant.ts';
import type { Artifact, CellGateway, CellParts, OpenGateway, OpenSkills, Zygote } from '../contract.ts';
import { withGateway } from '../native-env.ts';
import { makePlaceholders } from '../protocol/placeholders.ts';
import { Session } from '../protocol/session.ts';

export interface NativePlace extends CellParts {
  openGateway: OpenGateway;
  openSkills: OpenSkills;
}

interface StartOptions {
  start: StartKind;
  preload: boolean;
}

/** Starts a new process. */
export function startNative(place: NativePlace, options: StartOptions): Session {
  return createFaultOwner(() => launchNative(place, options));
}

function launchNative(place: NativePlace, { start, preload }: StartOptions): Session {
  const { wall, artifact, grant, openSkills } = place;
  const placeholders = makePlaceholders(grant);
  const gateway = gatewayFor(place, placeholders);
  try {
    const own = artifact.spec(grant);
    // A harness gets the placeholders with its first frame, and loads the skill ahead; a plain program does neither.
    const spec = own.stdio ? { ...own, env: { ...own.env, ...placeholders } } : own;
    const process = wall.launch(gateway ? withGateway(spec, gateway.folder) : spec, grant);
    const loads = preload && !spec.stdio;
    const parts = { process, artifact, grant, gateway, placeholders, openSkills };
    return new Session({ ...parts, start, preload: loads });
  } catch (error) {
    gateway?.close();
    throw error;
  }
}

/** Forks a zygote. */
export function forkNative(place: NativePlace, zygote: Zygote): Promise<Session> {
  return createFaultOwnerAsync(() => fork(place, zygote));
}

async function fork(place: NativePlace, zygote: Zygote): Promise<Session> {
  const { artifact, grant, openSkills } = place;
  const placeholders = makePlaceholders(grant);
  const gateway = gatewayFor(place, placeholders, zygote.gatewayFolder());
  try {
    const process = await zygote.fork(gateway?.folder);
    const parts = { process, artifact: forkOf(artifact), grant, gateway, placeholders, openSkills };
    return new Session({ ...parts, start: 'zygote', preload: false });
  } catch (error) {
    gateway?.close();
    throw error;
  }
}

/** Its zygote has been told everything but what differs between calls. */
function forkOf(artifact: Artifact): Artifact {
  return { ...artifact, init: () => ({}) };
}

function gatewayFor(
  { wall, grant, openGateway }: NativePlace,
  placeholders: Readonly<Record<string, string>>,
  folder?: string,
): CellGateway | undefined {
  if (!hasGateway(grant)) return undefined;
  return openGateway({ grant, placeholders, uid: wall.identity(grant)?.uid, folder });
}
