/** The clock, timers and chance of the page: the one place that asks the browser for them. */

/** Time now, in milliseconds since 1970. */
export const nowMs = (): number => Date.now()

/** Milliseconds of a clock that never jumps, for durations. */
export const elapsedMs = (): number => performance.now()

/** A random id. Pages that are served without TLS from another machine have no `randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6]! & 0x0f | 0x40
  bytes[8] = bytes[8]! & 0x3f | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Calls after a time. Returns what forgets it. */
export function after(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

/** Calls again and again. Returns what ends it. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms)
  return () => clearInterval(timer)
}

/** Resolves after a time, or at once when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const forget = after(ms, done)
    signal?.addEventListener('abort', () => {
      forget()
      done()
    }, { once: true })
  })
}
