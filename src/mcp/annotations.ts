/**
 * What a client may tell its user of a skill before it is called, derived from what the skill declares: it cannot be
 * claimed. A cell can do no more than that, so the hints err on the side of danger alone.
 *
 * @module
 */
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Manifest } from '../index.ts';

export type Hints = Required<
  Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'>
>;

/** What the annotations depend on. */
export type Declared = Pick<Manifest, 'capabilities' | 'execution'>;

type NetworkRule = Manifest['capabilities']['network'][number];

/** Methods that change nothing on the other side (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function hintsFor({ capabilities, execution }: Declared): Hints {
  const { filesystem, network } = capabilities;
  // A skill that may run in the host can do whatever the host can.
  const isUnconfined = execution.includes('in_process');
  const isReadOnly =
    !isUnconfined && filesystem.every(({ access }) => access === 'read') && network.every(onlyReads);
  return {
    readOnlyHint: isReadOnly,
    // Who may write may overwrite, and may do it differently each time: nothing in a capability says otherwise.
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: isUnconfined || network.length > 0,
  };
}

/** The hints of a tool that can call any of several skills: as dangerous as the most dangerous. */
export function combinedHints(all: readonly Hints[]): Hints {
  return {
    readOnlyHint: all.every((hints) => hints.readOnlyHint),
    destructiveHint: all.some((hints) => hints.destructiveHint),
    idempotentHint: all.every((hints) => hints.idempotentHint),
    openWorldHint: all.some((hints) => hints.openWorldHint),
  };
}

function onlyReads({ methods, scheme }: NetworkRule): boolean {
  if (methods === undefined || scheme === 'ws' || scheme === 'wss') return false;
  return methods.every((method) => SAFE_METHODS.has(method.toUpperCase()));
}
