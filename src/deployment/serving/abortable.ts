/** Waits for a shared promise: a caller that stops waiting does not end it for the others. */

/** The result of `promise`; throws the reason of the signal as soon as that aborts. */
export async function abortable<Result>(promise: Promise<Result>,
  signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return await promise
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
