/** Doubles a string until memory runs out. */
export async function execute(params) {
  let text = 'x'.repeat(1024);
  const kept = [];
  for (;;) kept.push((text = `${text}${text}y`));
}
