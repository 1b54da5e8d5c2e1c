/** When this process stood still because the machine paused, which no server can prevent. */

const lookMs = 20
/** Milliseconds below which a delay does not count as a pause. */
const noticedMs = 100
/** Time after a pause in which the backlog is done, as everything was due at once. */
const catchUpMs = 1_000

interface Span {
  readonly fromMs: number
  readonly throughMs: number
}

const pauses: Span[] = []
let lookedMs = performance.now()

function look(): void {
  const [fromMs, throughMs] = [lookedMs + lookMs, performance.now()]
  if (throughMs - fromMs > noticedMs) pauses.push({ fromMs, throughMs })
  lookedMs = throughMs
}

setInterval(look, lookMs).unref()

/** How long the process stood still within a span of `performance.now()`. */
function stoodMs(fromMs: number, throughMs: number): number {
  // Right after a pause the timer may not have run yet.
  look()
  return pauses.reduce(
    (sum, pause) =>
      sum + Math.max(0, Math.min(pause.throughMs, throughMs) - Math.max(pause.fromMs, fromMs)),
    0,
  )
}

/** The bound for something in this span: `ms`, or more if this process paused. */
export function allowedMs(ms: number, fromMs: number, throughMs: number): number {
  const stood = stoodMs(fromMs, throughMs)
  return ms + stood + (stood > 0 ? catchUpMs : 0)
}

/** How long something took that began at `fromMs`, without pauses of this process. */
export function tookMs(fromMs: number, throughMs = performance.now()): number {
  return throughMs - allowedMs(fromMs, fromMs, throughMs)
}
