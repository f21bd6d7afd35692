/**
 * Runs the attacks through the gateway: each once where no gateway is, to show that it works, and once in a cell, where
 * nothing may come of it; then a harmless request, which must still be answered.
 *
 * @module
 */
import type { Outcome } from '../../src/outcome.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../src/runtime.ts';
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
  /** Of the runtimes under attack, besides what the attacks need. */
  runtime?: RuntimeOptions;
  /** Only these attacks. */
  names?: readonly string[] | undefined;
  /** Instead of those of the corpus. */
  attacks?: readonly NetworkAttack[];
  onRow?: (row: AttackRow) => void;
  /** False leaves out the runs without a gateway. */
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
  // One after the other: what the servers tell then belongs to the attack that runs.
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

/** A request that is granted. */
function benignOf(stage: NetworkStage): BenignCall {
  return {
    dir: stage.bundle('plain'),
    params: { op: 'benign', url: `http://127.0.0.1:${stage.ports.web}/open/harmless` },
    answer: '{"body":"harmless"}',
  };
}

/** A denial has to be about the right thing: an attempt to send a key away is not just some request. */
function withCapability(attack: NetworkAttack, outcome: Outcome, row: AttackRow): AttackRow {
  if (outcome.ok || outcome.error.code !== 'capability_denied') return row;
  const { capability } = outcome.error.detail;
  if (capability === attack.capability) return row;
  return {
    ...row,
    unexpected: `was denied as "${JSON.stringify(capability)}", not as "${attack.capability}"`,
  };
}
