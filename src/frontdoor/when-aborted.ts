/** What is done when somebody goes, as long as what this returns is in use. */

/** He may have gone already. */
export function whenAborted(signal: AbortSignal, aborted: () => void): Disposable {
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', aborted) }
}
