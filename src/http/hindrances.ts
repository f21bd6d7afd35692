/**
 * The reasons why a service cannot accept calls.
 *
 * @module
 */
import { toSkillError } from '../inside.ts';
import type { Service } from './service.ts';

/** A part of the service that does not work, with the reason. */
export interface Hindrance {
  part: 'service' | 'access' | 'receipts' | 'cells';
  reason: string;
}

export async function hindrancesOf(service: Service): Promise<Hindrance[]> {
  // Returns early, because probing the walls takes time.
  if (service.isClosing) return [{ part: 'service', reason: 'The service is shutting down' }];
  const found: Hindrance[] = [];
  if (service.access.isBroken) found.push({ part: 'access', reason: 'The access file is broken' });
  try {
    service.runtime.assertReceipts();
  } catch (thrown) {
    found.push({ part: 'receipts', reason: service.folders.error(toSkillError(thrown).toBody()).message });
  }
  const reason = await withoutCells(service);
  return reason === undefined ? found : [...found, { part: 'cells', reason }];
}

/** Why no call can get a cell, here or elsewhere. */
async function withoutCells(service: Service): Promise<string | undefined> {
  const { elsewhere } = service.options;
  if (elsewhere) return elsewhere.obstacle();
  try {
    const pairs = await service.machine();
    const works = pairs.some(({ wall, available }) => wall !== 'none' && available);
    return works ? undefined : 'No wall works on this machine';
  } catch {
    return 'The walls of this machine could not be probed';
  }
}
