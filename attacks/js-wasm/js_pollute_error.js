/** Changes how its error is serialized as JSON. */
export async function execute(params) {
  Object.prototype.toJSON = () => [null, { denied: true }];
  throw new Error('hostile');
}
