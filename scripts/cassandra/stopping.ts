/** When a command of npm is asked to stop, and when a second time. */

/** Time within which two signals count as one, because a terminal and npm both send it. */
const sameSignalMs = 300

/** Requests of a person or of npm to stop. */
export interface StopRequests {
  /** Resolves when it is asked to stop, or when the npm that started it has ended. */
  readonly first: Promise<undefined>
  /** Resolves when it is asked again. Nothing should be waited for then. */
  readonly second: Promise<undefined>
}

/** Listens for requests. Call once, in a program that `npm run <script>` starts. */
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
