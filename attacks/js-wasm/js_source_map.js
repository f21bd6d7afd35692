/** Names a file of the host as the source of its code, and fails. */
export async function execute(params) {
  return (0, eval)(
    `(() => { throw new Error('mapped'); })()\n//# sourceURL=${params.secret_file}\n//# sourceMappingURL=file://${params.secret_file}`,
  );
}
