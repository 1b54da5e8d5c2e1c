/** Calls a function when a signal aborts, until it is disposed of. */

/** Calls `aborted` when the signal aborts; at once if it has. Disposing of the result ends that. */
export function whenAborted(signal: AbortSignal, aborted: () => void): Disposable {
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', aborted) }
}
