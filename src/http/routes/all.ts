/**
 * All routes of the service.
 *
 * @module
 */
import type { Route } from '../route.ts';
import { CALL_ROUTES } from './calls.ts';
import { PROGRAM_ROUTES } from './programs.ts';
import { SERVICE_ROUTES } from './service.ts';
import { SKILL_ROUTES } from './skills.ts';

export const ROUTES: readonly Route[] = [
  ...SKILL_ROUTES,
  ...PROGRAM_ROUTES,
  ...CALL_ROUTES,
  ...SERVICE_ROUTES,
];
