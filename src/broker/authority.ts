/**
 * The authority that the host holds for cells, as the pool expects it.
 *
 * @module
 */
import type { Authority } from '../cell/pool/pool.ts';
import { openBroker, openSkills } from './broker.ts';
import { gatewayOpener } from './gateway/cell-gateway.ts';
import type { EgressOptions } from './gateway/egress.ts';

export function authorityOf({ home, ...network }: EgressOptions & { home: string }): Authority {
  return {
    openBroker: (grant, bundle, options) => openBroker(grant, bundle, { ...network, ...options }),
    openSkills,
    openGateway: gatewayOpener({ ...network, home }),
  };
}
