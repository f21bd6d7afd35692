/**
 * Prints what rootless podman can do here, and whether it accepts a grant. A test starts it as a user without root.
 *
 * @module
 */
import { PodmanWall } from '../../../../src/cell/walls/container/podman/wall.ts';
import { SkillError } from '../../../../src/errors.ts';
import type { Grant } from '../../../../src/policy/grant.ts';

const MIB = 1024 * 1024;
const GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: { timeout: 5000, cpu: 5000, memory: 64 * MIB, output: MIB, processes: 0, scratch: MIB },
  withheld: [],
};

const wall = new PodmanWall({ home: process.argv[2] ?? '' });
const { available, summary, enforces } = await wall.probe();
console.log(JSON.stringify({ available, summary, memory: enforces.memory.by, answer: answer() }));
await wall.close();

function answer(): string {
  try {
    wall.accepts(GRANT);
    return 'accepted';
  } catch (error) {
    return error instanceof SkillError ? error.code : String(error);
  }
}
