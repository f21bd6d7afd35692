/**
 * Searches for skills in a process without free file descriptors, and prints the outcome.
 *
 * @module
 */
import { openSync } from 'node:fs';
import process from 'node:process';
import { SkillError } from '../../src/errors.ts';
import { findSkills, type SkillPlaces } from '../../src/load/locate.ts';

/** More than any process may open under this limit. */
const ENOUGH = 1_100_000;

const places = JSON.parse(process.argv[2] ?? '') as SkillPlaces;
const ending = exhaust();
try {
  process.stdout.write(`${ending}: found ${findSkills(places).length}\n`);
} catch (error) {
  process.stdout.write(`${ending}: ${error instanceof SkillError ? error.code : String(error)}\n`);
}

function exhaust(): string {
  try {
    for (let opened = 0; opened < ENOUGH; opened++) openSync('/dev/null', 'r');
    return 'never';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
