/** Lives of the rows that a request writes. Pure. */

import type { SpanPlace, SpanWrite, Uuid } from '../../../../platform/index.ts'

/** Longest life of the spans of each project that have a life of their own. */
export function ownLives(spans: readonly SpanWrite[]): ReadonlyMap<Uuid, number> {
  const lives = new Map<Uuid, number>()
  for (const { place: { project }, timeToLiveS } of spans) {
    if (timeToLiveS !== undefined) {
      lives.set(project, Math.max(timeToLiveS, lives.get(project) ?? 0))
    }
  }
  return lives
}

/** Seconds that rows of a trace live: as long as any of its spans here; 0 for ever. */
export function timesToLive(places: readonly SpanPlace[],
  ofProject: (project: Uuid) => number): (trace: Uuid) => number {
  const traces = new Map<Uuid, number>()
  for (const { trace, project } of places) {
    const [known, liveS] = [traces.get(trace), ofProject(project)]
    // Zero is for ever.
    const longer = known === 0 || liveS === 0 ? 0 : Math.max(known ?? 0, liveS)
    traces.set(trace, longer)
  }
  const longest = places.length === 0 ? 0 : Math.max(...traces.values())
  return (trace) => traces.get(trace) ?? longest
}
