/** Looks for functions of the host on the stack. */
export async function execute(params) {
  const found = [];
  Error.prepareStackTrace = (_, frames) => {
    for (const frame of Array.isArray(frames) ? frames : [])
      for (const name of ['getThis', 'getFunction', 'getEvalOrigin'])
        try {
          const got = frame[name]?.();
          if (typeof got === 'function' || (typeof got === 'object' && got !== null))
            found.push(`${name}: ${String(got).slice(0, 60)}`);
        } catch {}
    return '';
  };
  void new Error('look').stack;
  const caller = new Function('return arguments.callee.caller');
  try {
    if (caller()) found.push('caller');
  } catch {}
  return { succeeded: found.length > 0, evidence: found.join() };
}
