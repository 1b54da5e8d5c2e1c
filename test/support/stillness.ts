/** When this process stood still: the machine paused, and no server answers for that. */

const lookMs = 20
/** What is late by less is no pause. */
const noticedMs = 100
/** What a pause leaves behind is done in this time: everything was due at once. */
const catchUpMs = 1_000

interface Span { readonly fromMs: number, readonly throughMs: number }

const pauses: Span[] = []
let lookedMs = performance.now()

function look(): void {
  const [fromMs, throughMs] = [lookedMs + lookMs, performance.now()]
  if (throughMs - fromMs > noticedMs) pauses.push({ fromMs, throughMs })
  lookedMs = throughMs
}

setInterval(look, lookMs).unref()

/** How much of a span it stood still; of `performance.now()`. */
function stoodMs(fromMs: number, throughMs: number): number {
  // Right after a pause the timer may not have come to it yet.
  look()
  return pauses.reduce((sum, pause) => sum + Math.max(0,
    Math.min(pause.throughMs, throughMs) - Math.max(pause.fromMs, fromMs)), 0)
}

/** The bound for what took from … through …, which is `ms` where this process did not pause. */
export function allowedMs(ms: number, fromMs: number, throughMs: number): number {
  const stood = stoodMs(fromMs, throughMs)
  return ms + stood + (stood > 0 ? catchUpMs : 0)
}

/** What something took that began then, without what this process stood still: for any bound. */
export function tookMs(fromMs: number, throughMs = performance.now()): number {
  return throughMs - allowedMs(fromMs, fromMs, throughMs)
}
