/**
 * `struct tm` for the C library. A cell is always in UTC.
 *
 * @module
 */
/* oxlint-disable max-params -- the C library decides how many there are */
import type { GuestMemory } from '../../imaged/guest-memory.ts';
import type { Context, ImportFunctions } from './context.ts';

const MS_PER_DAY = 86_400_000;
const FIRST_YEAR = 1900;
const FIELD_BYTES = 4;

export function calendarCalls({ memory }: Context): ImportFunctions {
  const fromSeconds = (seconds: bigint | number, result: number): void =>
    writeTime(memory, result, Number(seconds));
  const toSeconds = (address: number): bigint => {
    const seconds = readTime(memory, address);
    writeTime(memory, address, seconds);
    return BigInt(seconds);
  };
  return {
    _tzset_js: (timezone: number, daylight: number, standardName: number, daylightName: number) => {
      memory.setU32(timezone, 0);
      memory.setU32(daylight, 0);
      memory.setText(standardName, 'UTC');
      memory.setText(daylightName, 'UTC');
    },
    _gmtime_js: fromSeconds,
    _localtime_js: fromSeconds,
    _timegm_js: toSeconds,
    _mktime_js: toSeconds,
  };
}

function writeTime(memory: GuestMemory, address: number, seconds: number): void {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  const startOfYear = new Date(0).setUTCFullYear(year, 0, 1);
  const fields = [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth(),
    year - FIRST_YEAR,
    date.getUTCDay(),
    Math.floor((date.getTime() - startOfYear) / MS_PER_DAY),
    0,
    0,
  ];
  for (const [index, value] of fields.entries()) memory.setI32((address >>> 0) + FIELD_BYTES * index, value);
}

function readTime(memory: GuestMemory, address: number): number {
  const field = (index: number): number => memory.view.getInt32((address >>> 0) + FIELD_BYTES * index, true);
  const date = new Date(0);
  date.setUTCFullYear(field(5) + FIRST_YEAR, field(4), field(3));
  date.setUTCHours(field(2), field(1), field(0));
  const seconds = Math.floor(date.getTime() / 1000);
  return Number.isFinite(seconds) ? seconds : -1;
}
