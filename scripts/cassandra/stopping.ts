/** When a command of npm is asked to stop, and when it is asked once more. */

/** A signal that comes twice within this time is one: a terminal and npm both pass it on. */
const sameSignalMs = 300

export interface StopRequests {
  /** Asked to stop, or the npm that started the script is gone. */
  readonly first: Promise<undefined>
  /** Asked again: do not wait for anything. */
  readonly second: Promise<undefined>
}

/** To be called once, in a program that `npm run <script>` starts. */
export function stopRequests(script: string): StopRequests {
  const first = Promise.withResolvers<undefined>()
  const second = Promise.withResolvers<undefined>()
  let firstMs: number | undefined
  const asked = () => {
    const nowMs = performance.now()
    if (firstMs !== undefined && nowMs - firstMs > sameSignalMs) second.resolve(undefined)
    firstMs ??= nowMs
    first.resolve(undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, asked)
  if (process.env.npm_lifecycle_event === script) {
    const parent = process.ppid
    setInterval(() => process.ppid === parent || first.resolve(undefined), 500).unref()
  }
  return { first: first.promise, second: second.promise }
}
