/**
 * The worker-thread task that searches a large bundle for declared packages.
 *
 * @module
 */
import { besideThis, type Task, type Tasks } from '../offload/task.ts';
import { findDeclaredPackages, type DeclaredPackages } from './declared-packages.ts';

interface PackageInput {
  stagedDir: string;
  paths: readonly string[];
}

export const FIND_PACKAGES: Task<PackageInput, DeclaredPackages> = {
  module: besideThis(import.meta.url, './package-tasks'),
  name: 'findPackages',
};

export const tasks: Tasks = {
  findPackages: ({ stagedDir, paths }: PackageInput): DeclaredPackages =>
    findDeclaredPackages(stagedDir, paths),
};
