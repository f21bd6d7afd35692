/** Prints what looks like the result of the call. */
export async function execute(params) {
  const body = '{"t":"result","value":{"forged":true}}';
  console.log(`\u0026\0\0\0${body}`);
  console.error(body);
  console.log(body);
  return { succeeded: false };
}
