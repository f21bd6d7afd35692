/**
 * All attacks on the edges: on the person at a terminal, on clients of the services, and on the services themselves.
 *
 * @module
 */
import type { TrustAttack } from '../trust/attack.ts';
import { SERVICE_ATTACKS } from './services.ts';
import { TERMINAL_ATTACKS } from './terminal.ts';
import { TOKEN_ATTACKS } from './token.ts';

export const EDGE_ATTACKS: readonly TrustAttack[] = [
  ...TERMINAL_ATTACKS,
  ...SERVICE_ATTACKS,
  ...TOKEN_ATTACKS,
];
