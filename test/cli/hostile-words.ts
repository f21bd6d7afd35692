/**
 * Text that tries to control a terminal or to imitate our output, and how to detect that it did.
 *
 * @module
 */

/** ESC and OSC, C1, DEL, bidi, zero-width, a lone carriage return, and imitations of our own lines. */
export const HOSTILE: string =
  'a\u001b]0;owned\u0007\u001b[2J\u009b31m\u007f\u202e\u2066\u200b\u2060\ufeff\r\u0085\u2028' +
  '\nfix: forged\nReceipt: forged\nerror[internal]: forged\nwarning: forged\ntrust     forged\ndenied    forged\nb';
export const STEERS: RegExp = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]|[\u200b\u2060\ufeff]/u;
export const FORGED: RegExp =
  /^(?:fix: |Receipt: |error\[internal\]: |warning: |trust {5}|denied {4})forged/m;
