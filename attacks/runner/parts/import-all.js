/** Which of these modules can be imported. */
export async function tryAll(names, isGood) {
  const found = [];
  for (const name of names) {
    try {
      const made = await import(name);
      if (isGood(made)) found.push(name);
    } catch {}
  }
  return { succeeded: found.length > 0, evidence: found.join() };
}
