/**
 * Tool annotations that a client can show before a call. They are derived from the declared capabilities, so a skill cannot
 * claim to be harmless. A cell can do no more than it declares, so the hints err only towards danger.
 *
 * @module
 */
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Manifest } from '../inside.ts';

export type Hints = Required<
  Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'>
>;

/** The part of a manifest that the annotations depend on. */
export type Declared = Pick<Manifest, 'capabilities' | 'execution'>;

type NetworkRule = Manifest['capabilities']['network'][number];

/** Methods that change nothing on the server (RFC 9110, 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function hintsFor({ capabilities, execution }: Declared): Hints {
  const { filesystem, network } = capabilities;
  // A skill that may run in the host process can do everything the host can.
  const isUnconfined = execution.includes('in_process');
  const isReadOnly =
    !isUnconfined && filesystem.every(({ access }) => access === 'read') && network.every(onlyReads);
  return {
    readOnlyHint: isReadOnly,
    // Write access may overwrite, and with a different result each time: no capability excludes that.
    destructiveHint: !isReadOnly,
    idempotentHint: isReadOnly,
    openWorldHint: isUnconfined || network.length > 0,
  };
}

/** Hints of a tool that can call any of several skills: those of the most dangerous one. */
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
