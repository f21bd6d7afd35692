/**
 * Runs the attacks through the gateway: each once without a gateway, to show that it works, and once in a cell, where
 * it must have no effect; then a harmless request, which must still be answered.
 *
 * @module
 */
import { createRuntime, type Outcome, type Runtime, type RuntimeOptions } from '../../src/for-attacks.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute } from './attack-row.ts';
import { successIn } from './outcome-view.ts';
import { SECRET_MARKER } from './secret.ts';
import type { NetworkAttack, NetworkMode } from '../network/attack.ts';
import { BYTE_ATTACKS } from '../network/bytes.ts';
import { runNetworkControl } from '../network/control.ts';
import { HOST_ATTACKS } from '../network/hosts.ts';
import { NAME_ATTACKS, runNameAttacks } from '../network/name-attacks.ts';
import { SECRET_ATTACKS } from '../network/secrets.ts';
import { openNetworkStage, type NetworkStage } from '../network/stage.ts';

export const NETWORK_ATTACKS: readonly NetworkAttack[] = [
  ...HOST_ATTACKS,
  ...BYTE_ATTACKS,
  ...SECRET_ATTACKS,
];

export interface NetworkRun {
  mode: NetworkMode;
  /** Options of the runtimes under attack, in addition to what the attacks need. */
  runtime?: RuntimeOptions;
  /** Only these attacks. */
  names?: readonly string[] | undefined;
  /** Replaces those of the corpus. */
  attacks?: readonly NetworkAttack[];
  onRow?: (row: AttackRow) => void;
  /** False skips the runs without a gateway. */
  controls?: boolean;
}

export function networkAttacksOf({
  mode,
  names,
  attacks = NETWORK_ATTACKS,
}: Pick<NetworkRun, 'mode' | 'names' | 'attacks'>): NetworkAttack[] {
  return attacks.filter(({ modes, name }) => modes.includes(mode) && (names?.includes(name) ?? true));
}

export async function runNetworkAttacks(run: NetworkRun): Promise<AttackRow[]> {
  const attacks = networkAttacksOf(run);
  const byName = await runByName(run);
  if (attacks.length === 0) return byName;
  await using stage = await openNetworkStage();
  await using plain = createRuntime({ ...run.runtime, ...stage.runtime(false) });
  await using seeing = createRuntime({ ...run.runtime, ...stage.runtime(true) });
  const rows = byName;
  // One after the other, so that reports of the servers belong to the running attack.
  for (const attack of attacks) {
    const row = await runAttack(attack, stage, { ...run, under: attack.grant === 'seen' ? seeing : plain });
    rows.push(row);
    run.onRow?.(row);
  }
  return rows.sort((a, b) => a.name.localeCompare(b.name));
}

async function runByName({ mode, names, onRow }: NetworkRun): Promise<AttackRow[]> {
  const isWanted = ({ name }: { name: string }): boolean => names?.includes(name) ?? true;
  if (!NAME_ATTACKS.some(isWanted)) return [];
  const rows = (await runNameAttacks(mode)).filter(isWanted);
  for (const row of rows) onRow?.(row);
  return rows;
}

async function runAttack(
  attack: NetworkAttack,
  stage: NetworkStage,
  { mode, controls = true, under }: NetworkRun & { under: Runtime },
): Promise<AttackRow> {
  const wanted = attack.params(stage.ports);
  const params = {
    ...wanted,
    marker: SECRET_MARKER,
    key_name: 'API_KEY',
    ...(wanted['known_key'] === true ? { value: stage.value } : {}),
  };
  const execute: Execute = (dir, given, options) =>
    under.execute(dir, given, { ...options, execution: mode, reject: false });
  const [control, outcome] = await Promise.all([
    controls ? controlOf(attack, stage, params) : { none: 'Not run.' },
    execute(stage.bundle(attack.grant), params, { timeout: attack.timeout }),
  ]);
  const harm = [
    ...successIn(outcome, stage.secret),
    ...(JSON.stringify(outcome).includes(stage.value) ? ['the key is in the outcome'] : []),
    ...(await stage.harm()),
  ];
  const { name, description } = attack;
  const facts = { corpus: 'network', name, description, control, outcomes: [outcome], harm } as const;
  const finding = { ...facts, proof: 'marker', expected: attack } as const;
  return withCapability(attack, outcome, await finishRow(finding, execute, benignOf(stage)));
}

function controlOf(
  attack: NetworkAttack,
  stage: NetworkStage,
  params: Record<string, unknown>,
): ReturnType<typeof runNetworkControl> | { none: string } {
  return typeof attack.control === 'object' ? attack.control : runNetworkControl(attack, stage, params);
}

/** A granted request. */
function benignOf(stage: NetworkStage): BenignCall {
  return {
    dir: stage.bundle('plain'),
    params: { op: 'benign', url: `http://127.0.0.1:${stage.ports.web}/open/harmless` },
    answer: '{"body":"harmless"}',
  };
}

/** A denial must be about the right capability: an attempt to send a key away is not just any request. */
function withCapability(attack: NetworkAttack, outcome: Outcome, row: AttackRow): AttackRow {
  if (outcome.ok || outcome.error.code !== 'capability_denied') return row;
  const { capability } = outcome.error.detail;
  if (capability === attack.capability) return row;
  return {
    ...row,
    unexpected: `was denied as "${JSON.stringify(capability)}", not as "${attack.capability}"`,
  };
}
