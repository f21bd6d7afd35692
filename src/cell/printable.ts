/**
 * Text of a skill for people: it must not steer the terminal that shows it.
 *
 * @module
 */

/** Control characters and the marks that turn the direction of writing; line breaks and tabs stay. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export function printable(text: string): string {
  return text.toWellFormed().replaceAll(STEERING, '\ufffd');
}
