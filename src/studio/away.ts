/** Absence of the server: any call may meet it, one probe looks for its end, the rest waits. */

import { after, nowMs } from './env.ts'
import { isHidden } from './in-sight.ts'

/** Milliseconds until the probe after so many: at once, then each second, then ever less often. */
export const probeDelayMs = (tries: number): number =>
  tries === 0 ? 300 : Math.min(1_000 * 1.4 ** (tries - 1), 8_000)

/** An absence that follows another one so soon is the same: some calls fail, others do not. */
const sameMs = 10_000

let probe: () => Promise<boolean> = () => Promise.resolve(true)
let away = false
let tries = 0
let backMs = -Infinity
let forget = () => {}
const listeners = new Set<() => void>()

/** Says how to look if the server is back; resolves to true if it is. Called once. */
export function probeBy(ask: () => Promise<boolean>): void {
  probe = ask
}

/** True while the server does not answer. */
export const isAway = (): boolean => away

/** Tells of each beginning and end of an absence. Returns what ends it. */
export function onAway(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notes that the server answered, or that it did not. */
export function noteAway(isGone: boolean): void {
  if (isGone === away) return
  away = isGone
  forget()
  if (isGone) {
    if (nowMs() - backMs > sameMs) tries = 0
    lookSoon()
  } else {
    backMs = nowMs()
  }
  for (const listener of listeners) listener()
}

function lookSoon(): void {
  forget = after(probeDelayMs(tries), () => {
    tries++
    // Nothing is asked in a tab that nobody looks at.
    if (isHidden()) return lookSoon()
    void probe().then((isBack) => {
      if (!away) return
      if (isBack) noteAway(false)
      else lookSoon()
    })
  })
}

/** Resolves when the server is back, or the signal is aborted. */
export function untilBack(signal: AbortSignal): Promise<void> {
  const back = Promise.withResolvers<void>()
  const look = () => {
    if (!away || signal.aborted) back.resolve()
  }
  look()
  signal.addEventListener('abort', look)
  const stop = onAway(look)
  return back.promise.finally(() => {
    stop()
    signal.removeEventListener('abort', look)
  })
}
