/** Reacting to an abort, until the result is disposed of. */

/** Calls `aborted` at once if the signal has aborted already. */
export function whenAborted(signal: AbortSignal, aborted: () => void): Disposable {
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', aborted) }
}
