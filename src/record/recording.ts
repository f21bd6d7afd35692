/**
 * The result of an observed call: the manifest that it needs, as a diff against the present one.
 *
 * @module
 */
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../errors.ts';
import type { Bundle, OverlayPlace } from '../load/bundle.ts';
import { findDrift } from '../load/drift.ts';
import { saveOverlay } from '../load/write-overlay.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { parseManifest } from '../manifest/parse.ts';
import type { Outcome } from '../outcome.ts';
import { leastFor } from './least.ts';
import { readEvents, type Observed } from './observed.ts';
import { unifiedDiff } from './unified-diff.ts';
import { withPermissions } from './write-manifest.ts';

const FILE = 'manifest.yaml';

/** What a recorded call needed, as a manifest. */
export interface Recording {
  /** How the observed call ended. */
  outcome: Outcome;
  observed: Observed;
  /** The text of the manifest with the least permissions that cover what was observed. */
  manifest: string;
  /** Diff from the present manifest to that one; empty when they are equal. */
  diff: string;
  /** Permissions that the manifest declares and this call did not use. */
  unused: string[];
  /** What a person should know before using the manifest. */
  remarks: string[];
  /** Path of the manifest, or of the overlay of an Agent Skills folder. */
  file: string;
  /** Where the overlay is; absent for a manifest. */
  overlay?: OverlayPlace;
}

export interface ObservedCall {
  outcome: Outcome;
  /** The manifest that the call ran with, made from what the operator allowed. */
  allowed: Manifest;
}

/** Throws the error of a call that never ran or was cancelled, because what it would have needed is unknown. */
export function assertSeen(outcome: Outcome): void {
  if (!outcome.ok && (outcome.usage.wall_ms === 0 || outcome.error.code === 'cancelled'))
    throw SkillError.fromOutcome(outcome);
}

export function makeRecording(bundle: Bundle, { outcome, allowed }: ObservedCall): Recording {
  const { manifest, sourceDir, stagedDir } = bundle;
  assertSeen(outcome);
  const observed = readEvents(outcome.capabilities.used, outcome.capabilities.denied);
  const least = leastFor(manifest, observed, {
    succeeded: outcome.ok,
    allowed: {
      filesystem: allowed.capabilities.filesystem,
      env: allowed.env,
      processes: allowed.limits.processes ?? 0,
    },
  });
  const before = textOf(join(stagedDir, FILE), manifest.name);
  const after = withPermissions(before.text, least);
  // The proposal must be a valid manifest.
  const proposed = parseManifest(after, { file: FILE, inherited: manifest }).manifest;
  return {
    outcome,
    observed,
    manifest: after,
    diff: unifiedDiff(before.isNew ? '' : before.text, after, FILE),
    unused: least.unused,
    remarks: [...least.remarks, ...uncovered(bundle, proposed)],
    file: join(sourceDir, FILE),
  };
}

/** Code that this call did not get to: with it, the skill does not load under the recorded manifest. */
function uncovered({ inspection, files }: Bundle, manifest: Manifest): string[] {
  const { drift } = findDrift({ manifest, inspection, paths: Object.keys(files) });
  return drift.map(
    (found) =>
      `${found} This call did not use it, so the skill does not load: remove it from the code, or record a call that uses it. Skills reach hosts by HTTP only.`,
  );
}

/** Writes the recorded manifest beside the skill. */
export function saveRecording({ file, manifest, overlay }: Recording): void {
  if (overlay !== undefined) {
    saveOverlay({ file, text: manifest, place: overlay });
    return;
  }
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const fd = openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644);
  try {
    writeFileSync(fd, manifest);
  } finally {
    closeSync(fd);
  }
}

/** The manifest as it was loaded. A bundle with only a SKILL.md gets a new manifest. */
function textOf(file: string, name: string): { text: string; isNew: boolean } {
  try {
    return { text: readFileSync(file, 'utf8'), isNew: false };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { text: `name: ${name}\ncapabilities: {}\n`, isNew: true };
  }
}
